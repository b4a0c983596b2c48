#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

/// The call stands in the middle of a graph whose other calls are drawn, so that what a backend
/// folds, fuses, keeps in another form or overwrites shows. Of calls of one input, which compilers
/// seldom treat in a way of their own, one in 4 gets one. It runs three times.
inline constexpr Property kCompiled{.name = "compiled",
    .text = "a compiled graph of calls gives what the calls give one by one",
    .ask =
        [](Probe& p) {
          const bool wanted = p.weighted() || p.chosen(6);
          if (p.watched() && wanted && !p.too_large_for_laws()) p.ask_compiled();
        },
    .inspect = inspect_runs,
    .plant = flip_observed};

}  // namespace lockstep::judge
