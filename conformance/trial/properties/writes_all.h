#pragma once
#include <fmt/format.h>

#include "conformance/trial/properties/deterministic.h"

namespace lockstep::judge {

inline std::optional<Finding> inspect_writes_all(const Trial& t, Observations seen) {
  for (const Observation& o : seen) {
    i64 unwritten = 0;
    std::size_t output = 0, first = 0;
    for_each_unwritten(t, o, [&](std::size_t k, std::size_t i) {
      if (unwritten++ == 0) output = k, first = i;
    });
    if (unwritten > 0) {
      const Index at = unravel(static_cast<i64>(first), t.types[static_cast<int>(output)].shape);
      return Finding{fmt::format("{} elements were never written{}, the first is output {} at [{}]",
          unwritten, o.again ? " " + o.when : "", output, fmt::join(at, ","))};
    }
  }
  return std::nullopt;
}

/// Leaves one element as it was before both calls, or before the second run of a plan.
inline bool leave_unwritten(Trial& t, std::span<Observation> seen, u64 draw) {
  Observation& o = seen[word(draw, 3, 7) % seen.size()];
  if (!o.answer->ok()) return false;
  const std::size_t output = draw % t.base.out.size();
  const std::size_t k = word(draw, 3, 5) % t.base.out[output].size();
  if (!o.again) t.base.out[output][k] = kPoison;
  o.answer->out[output][k] = kOtherPoison;
  return true;
}

/// The calls of `deterministic` begin with other poison in the outputs than the plain call. An
/// element that still holds it was not written.
inline constexpr Property kWritesAll{.name = "writes_all",
    .text = "every element of every output is written",
    .observes = &kDeterministic,
    .applies =
        [](const Trial& t) {
          const Observations seen = t.of(kDeterministic);
          return t.watched && !seen.empty() && t.base.ok() && seen[0].answer->ok();
        },
    .inspect = inspect_writes_all,
    .plant = leave_unwritten};

}  // namespace lockstep::judge
