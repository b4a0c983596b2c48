/// @file
/// Work that an interrupt ends early, so that the program still reports its results.
#pragma once
#include <csignal>

namespace lockstep::judge {

/// While it exists, the first interrupt (SIGINT, or SIGTERM from a scheduler) only ends the work;
/// the second one ends the program as usual.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  ~Interruptible();
  /// Whether there was an interrupt.
  static bool interrupted();

 private:
  static constexpr int kSignals[2] = {SIGINT, SIGTERM};
  struct sigaction before_[2];
};

}  // namespace lockstep::judge
