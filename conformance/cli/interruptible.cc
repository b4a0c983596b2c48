#include "conformance/cli/verbs.h"

namespace lockstep::judge {
namespace {

volatile std::sig_atomic_t interrupts = 0;

}  // namespace

Interruptible::Interruptible() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupts = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int k = 0; k < 2; ++k) sigaction(kSignals[k], &action, &before_[k]);
}

Interruptible::~Interruptible() {
  for (int k = 0; k < 2; ++k) sigaction(kSignals[k], &before_[k], nullptr);
}

bool Interruptible::interrupted() { return interrupts != 0; }

}  // namespace lockstep::judge
