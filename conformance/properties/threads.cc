#include "conformance/properties/forced.h"

namespace lockstep::judge {
namespace {

// A backend that says among how many threads it shares work proves that it obeyed.
std::optional<Finding> wrong_number(const Forced& f, const Answer& a) {
  if (a.threads == 0 || std::to_string(a.threads) == f.value) return std::nullopt;
  return Finding{"threads=" + f.value + " was asked for, and the work is shared among " +
                     std::to_string(a.threads),
                 a.kind};
}

std::optional<Finding> inspect_threads(const Trial& t) {
  return inspect_forced(t, t.threads, wrong_number);
}

}  // namespace

const Property kThreads{"threads", "every number of threads gives the same result",
                        [](const Trial& t) { return !t.threads.empty(); }, inspect_threads};

}  // namespace lockstep::judge
