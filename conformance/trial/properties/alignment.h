#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline constexpr Property kAlignment{.name = "alignment",
    .text =
        "tensors aligned to 4 bytes only, with any stride of extents of 1, give the same result",
    .ask =
        [](Probe& p) {
          if (p.watched() && !p.large())
            p.ask({.poison = kPoison, .base = Base::unaligned}, "with unaligned tensors");
        },
    .inspect = [](const Trial& t, Observations seen) { return other_result(t, *seen[0].answer); },
    .plant = flip_observed};

}  // namespace lockstep::judge
