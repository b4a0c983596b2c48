#pragma once
#include <fmt/format.h>

#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

inline constexpr int kReuses = 128;  ///< runs of one plan

inline std::optional<Finding> inspect_reuse(const Trial& t, Observations seen) {
  const Answer& a = *seen[0].answer;
  std::optional<Finding> f = other_result(t, a);
  if (a.changed_run == 0) return f;
  if (!f) f = Finding{"it is right, and the first run was not", a.kind};
  f->text = fmt::format(
      "run {} of one plan wrote something else than its first: {}", a.changed_run, f->text);
  return f;
}

/// A kernel that keeps state may go wrong after many runs. Outputs are put back before each.
inline constexpr Property kReuse{.name = "reuse",
    .text = "a plan gives the same result in each of 128 runs",
    .ask =
        [](Probe& p) {
          constexpr std::size_t kShare = 12;  // one small case in 12
          if (p.watched() && p.small() && (p.spelled_out() || p.choice(5, kShare) == 0))
            p.ask({.poison = kPoison, .runs = kReuses}, "in the last of 128 runs of one plan");
        },
    .inspect = inspect_reuse,
    .plant = flip_observed};

}  // namespace lockstep::judge
