#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline constexpr int kReuses = 128;  ///< runs of one plan

/// A kernel that keeps state may go wrong after many runs, when the same memory holds other values,
/// or when another call is prepared. Before half of the runs, in turns, the outputs get their first
/// values again. The judge runs plans of some small calls, of all those whose inputs may share
/// memory, and of one large call of each operator; other large calls would take too long.
inline constexpr Property kReuse{.name = "reuse",
    .text = "a plan gives the same result in each of 128 runs",
    .ask =
        [](Probe& p) {
          constexpr std::size_t kShare = 12;  // one small case in 12
          const bool is_small_one =
              p.small() && (p.spelled_out() || p.has_equal_inputs() || p.choice(5, kShare) == 0);
          if (p.watched() && (is_small_one || p.repeated())) p.ask_in_turns(kReuses);
        },
    .inspect = inspect_runs,
    .plant = flip_observed};

}  // namespace lockstep::judge
