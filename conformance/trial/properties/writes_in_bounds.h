#pragma once
#include "conformance/trial/properties/damage.h"
#include "conformance/trial/properties/layout.h"

namespace lockstep::judge {

/// Layouts other than compact have padding inside the tensor, too.
inline constexpr Property kWritesInBounds{.name = "writes_in_bounds",
    .text = "nothing beside outputs and scratch memory is written, padding cells included",
    .observes = &kLayout,
    .applies = memory_was_watched,
    .inspect = [](const Trial& t, Observations) { return first_damage(t, &Answer::out_damage); },
    .plant = plant_damage<&Answer::out_damage>};

}  // namespace lockstep::judge
