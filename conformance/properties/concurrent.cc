#include <fmt/format.h>

#include "conformance/property.h"

namespace lockstep::judge {
namespace {

std::optional<Finding> inspect_concurrent(const Trial& t) {
  if (t.callers[0].ok() && t.callers[0].unsteady)
    return Finding{fmt::format("to {} callers at once: one of them made its call again, and it "
                               "wrote something else",
                               t.callers.size()),
                   {}};
  for (std::size_t k = 0; k < t.callers.size(); ++k)
    if (std::optional<Finding> f =
            difference(k % 2 == 0 ? t.expected : t.expected_other, t.callers[k])) {
      f->text = fmt::format("to caller {} of {} at once: {}", k + 1, t.callers.size(), f->text);
      return f;
    }
  return std::nullopt;
}

}  // namespace

const Property kConcurrent{"concurrent",
                           "several callers of one plan at once each get their own result",
                           [](const Trial& t) { return !t.callers.empty(); }, inspect_concurrent};

}  // namespace lockstep::judge
