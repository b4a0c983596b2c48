#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

inline constexpr Property kAlignment{.name = "alignment",
    .text = "tensors aligned to 4 bytes and not to 64 give the same result",
    .ask =
        [](Probe& p) {
          return !p.watched() ||
              p.ask({.poison = kPoison, .base = Base::unaligned}, "with unaligned tensors");
        },
    .inspect = [](const Trial& t,
                   Observations seen) { return difference(t.expected, *seen[0].answer); }};

}  // namespace lockstep::judge
