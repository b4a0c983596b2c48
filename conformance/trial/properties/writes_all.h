#pragma once
#include <fmt/format.h>

#include "conformance/trial/properties/deterministic.h"

namespace lockstep::judge {

inline std::optional<Finding> inspect_writes_all(const Trial& t, Observations seen) {
  const Answer& repeat = *seen[0].answer;
  i64 unwritten = 0;
  std::size_t output = 0, first = 0;
  for (std::size_t k = 0; k < t.base.out.size() && k < repeat.out.size(); ++k)
    for (std::size_t i = 0; i < t.base.out[k].size(); ++i)
      if (t.base.out[k][i] == kPoison && repeat.out[k][i] == kOtherPoison) {
        if (unwritten++ == 0) output = k, first = i;
      }
  if (unwritten == 0) return std::nullopt;
  return Finding{fmt::format("{} elements were never written, the first is element {} of output {}",
                     unwritten, first, output),
      {}};
}

/// Leaves one element as it was before both calls.
inline bool leave_unwritten(Trial& t, std::span<Observation> seen, u64 draw) {
  const std::size_t output = draw % t.base.out.size();
  const std::size_t k = word(draw, 3, 5) % t.base.out[output].size();
  t.base.out[output][k] = kPoison;
  seen[0].answer->out[output][k] = kOtherPoison;
  return true;
}

/// The two calls of `deterministic` begin with different poison in the outputs. An element that
/// still holds both was not written.
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
