#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::optional<Finding> inspect_concurrent(const Trial& t, Observations seen);

/// Every second caller has other values, since callers with equal values could share memory
/// unnoticed.
inline constexpr Property kConcurrent{.name = "concurrent",
    .text = "several callers of one plan at once each get their own result",
    .ask =
        [](Probe& p) {
          constexpr std::size_t kCallers = 4;
          return !p.watched() || !p.chosen(1) || p.ask_at_once(kCallers);
        },
    .inspect = inspect_concurrent};

}  // namespace lockstep::judge
