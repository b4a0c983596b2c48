#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::optional<Finding> inspect_deterministic(const Trial& t, Observations seen);

inline constexpr Property kDeterministic{.name = "deterministic",
    .text = "the same call gives the same answer twice",
    .ask =
        [](Probe& p) {
          return p.ask({.poison = kOtherPoison, .base = Base::begin}, "the second time");
        },
    .inspect = inspect_deterministic};

}  // namespace lockstep::judge
