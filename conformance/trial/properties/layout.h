#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline constexpr Property kLayout{.name = "layout",
    .text = "padded, offset, permuted and scattered tensors give the same result",
    .ask =
        [](Probe& p) {
          if (p.watched() && p.manifest().strided)
            p.ask({.layout = p.other_layout(), .poison = kPoison}, "in another layout");
        },
    .inspect = [](const Trial& t, Observations seen) { return other_result(t, *seen[0].answer); },
    .plant = flip_observed};

}  // namespace lockstep::judge
