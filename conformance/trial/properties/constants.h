#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

/// Every second case has constants in another layout, because packing must honour their strides.
inline void ask_constants(Probe& p) {
  if (!p.weighted()) return;
  const bool strided = p.manifest().strided && p.call().seed % 2 == 0;
  p.ask({.layout = strided ? p.other_layout() : Layout::compact,
            .poison = kPoison,
            .constants = true},
      "with constants");
}

inline constexpr Property kConstants{.name = "constants",
    .text = "inputs given to prepare() as constants give the same result",
    .ask = ask_constants,
    .inspect = [](const Trial& t, Observations seen) { return other_result(t, *seen[0].answer); },
    .plant = flip_observed};

}  // namespace lockstep::judge
