#pragma once
#include <fmt/format.h>

#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline constexpr int kReuses = 128;  ///< runs of one plan

inline std::optional<Finding> inspect_reuse(const Trial& t, Observations seen) {
  const Answer& a = *seen[0].answer;
  std::optional<Finding> f = wrong_among(t, seen);
  if (a.changed_run == 0) return f;
  if (!f) f = Finding{"it is right, and an earlier run was not", a.kind};
  f->text = fmt::format(
      "run {} of one plan wrote something else for the same values: {}", a.changed_run, f->text);
  return f;
}

/// A kernel that keeps state may go wrong after many runs, when the same memory holds other values,
/// or when another call is prepared. Before every other two runs outputs are put back.
inline constexpr Property kReuse{.name = "reuse",
    .text = "a plan gives the same result in each of 128 runs",
    .ask =
        [](Probe& p) {
          constexpr std::size_t kShare = 12;  // one small case in 12
          if (p.watched() && p.small() && (p.spelled_out() || p.choice(5, kShare) == 0))
            p.ask_in_turns(kReuses);
        },
    .inspect = inspect_reuse,
    .plant = flip_observed};

}  // namespace lockstep::judge
