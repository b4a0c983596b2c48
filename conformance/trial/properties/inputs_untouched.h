#pragma once
#include "conformance/trial/properties/damage.h"

namespace lockstep::judge {

inline constexpr Property kInputsUntouched{.name = "inputs_untouched",
    .text = "inputs, and memory beside them, stay as they were",
    .applies = memory_was_watched,
    .inspect = [](const Trial& t, Observations) { return first_damage(t, &Answer::in_damage); },
    .plant = plant_damage<&Answer::in_damage>};

}  // namespace lockstep::judge
