#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

inline constexpr Property kMatchesVectors{.name = "matches_vectors",
    .text = "the frozen golden vectors give their frozen results",
    .about = kVectors,
    .applies = [](const Trial& t) { return t.item->what == Item::vector; },
    .inspect = [](const Trial& t, Observations) { return difference(t.expected, t.base); }};

}  // namespace lockstep::judge
