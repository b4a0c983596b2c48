/// @file
/// The cases that are left to judge.
#pragma once
#include <atomic>

#include "spec/operators.h"

namespace lockstep::judge {

/// The next case and the quarantined operators, in memory that the deciding process shares with the
/// judging ones.
class Agenda {
 public:
  Agenda();
  Agenda(const Agenda&) = delete;
  ~Agenda();
  /// The number of a case that no other process takes: 0, 1, 2, ..., without an end.
  std::size_t take() const { return (*next_)++; }
  void set_aside(const OpInfo& op) { aside(op) = true; }
  bool is_aside(const OpInfo& op) const { return aside(op); }
  /// Hides the shared memory from the child processes of this one, in which backends run.
  void keep_from_children() const;

 private:
  std::atomic<bool>& aside(const OpInfo& op) const;

  std::atomic<std::size_t>* next_;
  std::atomic<bool>* aside_;  // of each operator, in the order of the list
};

}  // namespace lockstep::judge
