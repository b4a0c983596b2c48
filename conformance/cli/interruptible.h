/// @file
/// Work that an interrupt ends early, with what it has come to.
#pragma once
#include <csignal>

namespace lockstep::judge {

/// While it lives, the first interrupt (SIGINT, or SIGTERM as a scheduler sends it) ends the work
/// and not the program, which still reports; the second one does as usual.
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
