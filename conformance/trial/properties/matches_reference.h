#pragma once
#include "conformance/trial/canary.h"

namespace lockstep::judge {

inline constexpr Property kMatchesReference{.name = "matches_reference",
    .text = "every output equals the executable specification's",
    .about = kLegal,
    .applies = [](const Trial& t) { return t.item->what == Item::legal; },
    .inspect = [](const Trial& t, Observations) { return difference(t.expected, t.base); },
    .plant = flip_plain};

}  // namespace lockstep::judge
