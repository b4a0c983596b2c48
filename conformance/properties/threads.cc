#include "conformance/property.h"

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
  for (const auto& [forced, answer] : t.threads) {
    std::optional<Finding> f = difference(t.expected, answer);
    if (f)
      f->text = "with threads=" + forced.value + ": " + f->text;
    else
      f = wrong_number(forced, answer);
    if (f) return f;
  }
  return std::nullopt;
}

}  // namespace

const Property kThreads{"threads", "every number of threads gives the same result",
                        [](const Trial& t) { return !t.threads.empty(); }, inspect_threads};

}  // namespace lockstep::judge
