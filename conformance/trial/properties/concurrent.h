#pragma once
#include <fmt/format.h>

#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline std::optional<Finding> inspect_concurrent(const Trial& t, Observations seen) {
  if (const Answer& first = *seen[0].answer; first.ok() && first.unsteady)
    return Finding{fmt::format("to {} callers at once: one of them made its call again, and it "
                               "wrote something else",
                       seen.size()),
        {}};
  return wrong_among(t, seen);
}

/// Every second caller has other values, since callers with equal values could share memory
/// unnoticed.
inline constexpr Property kConcurrent{.name = "concurrent",
    .text = "several callers of one plan at once each get their own result",
    .ask =
        [](Probe& p) {
          constexpr std::size_t kCallers = 4;
          if (p.watched() && !p.large() && p.chosen(1)) p.ask_at_once(kCallers);
        },
    .inspect = inspect_concurrent,
    .plant = flip_observed};

}  // namespace lockstep::judge
