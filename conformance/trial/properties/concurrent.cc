#include "conformance/trial/properties/concurrent.h"

#include <fmt/format.h>

namespace lockstep::judge {

std::optional<Finding> inspect_concurrent(const Trial& t, Observations seen) {
  if (const Answer& first = *seen[0].answer; first.ok() && first.unsteady)
    return Finding{fmt::format("to {} callers at once: one of them made its call again, and it "
                               "wrote something else",
                       seen.size()),
        {}};
  for (const Observation& o : seen)
    if (std::optional<Finding> f =
            difference(o.other_values ? t.expected_other : t.expected, *o.answer)) {
      f->text = o.when + ": " + f->text;
      return f;
    }
  return std::nullopt;
}

}  // namespace lockstep::judge
