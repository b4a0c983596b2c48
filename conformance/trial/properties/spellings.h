#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

/// One case in 4 is put again, in one of the ways to spell its attributes; a case that spells its
/// values out is put in each way.
inline constexpr Property kSpellings{.name = "spellings",
    .text = "attributes given as text in any legal way, or left to defaults, give the same result",
    .ask =
        [](Probe& p) {
          if (p.large() || !p.chosen(9)) return;
          for (std::size_t way = 0; way < kSpellingWays; ++way)
            if (p.spelled_out() || way == p.choice(10, kSpellingWays)) p.ask_spelled(way);
        },
    .inspect = [](const Trial& t, Observations seen) { return wrong_among(t, seen); },
    .plant = flip_observed};

}  // namespace lockstep::judge
