#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

/// The call stands in the middle of a graph whose other calls are drawn, so that what a backend
/// folds, fuses, keeps in another form or overwrites shows. Small cases get one, one in 4.
inline constexpr Property kCompiled{.name = "compiled",
    .text = "a compiled graph of calls gives what the calls give one by one",
    .ask =
        [](Probe& p) {
          if (p.watched() && p.small() && p.chosen(6)) p.ask_compiled();
        },
    .inspect = [](const Trial& t, Observations seen) { return wrong_among(t, seen); },
    .plant = flip_observed};

}  // namespace lockstep::judge
