/// @file
/// Which operators are no longer put to a backend that they end: each death costs time, and the
/// verdict is clear.
#pragma once
#include <atomic>
#include <map>
#include <string>

#include "conformance/verdict/verdict.h"
#include "spec/operators.h"

namespace lockstep::judge {

/// Decides which operators are put aside. Told of the results in the order of the cases, it decides
/// the same however many processes judge them.
class Quarantine {
 public:
  /// Why cases of this operator are not put any more; empty if they are.
  std::string reason(const std::string& op) const;
  /// Notes how a case ended that was put.
  void note(const std::string& op, Outcome outcome, const std::string& text);

 private:
  struct Deaths {
    i64 hangs = 0, crashes = 0;
  };
  std::map<std::string, Deaths> ops_;
  i64 hangs_ = 0, crashes_ = 0;
  bool answered_ = false;
  std::string last_;
};

/// The operators that are put aside, as the process that decides tells those that judge: memory
/// that all of them share from its making on.
class PutAside {
 public:
  PutAside();
  PutAside(const PutAside&) = delete;
  ~PutAside();
  void add(const OpInfo& op);
  bool holds(const OpInfo& op) const;
  /// Keeps it from the processes that this one starts: backends run in them.
  void keep_from_children() const;

 private:
  std::atomic<bool>& flag(const OpInfo& op) const;

  std::atomic<bool>* flags_;  // of each operator, in the order of the list
};

}  // namespace lockstep::judge
