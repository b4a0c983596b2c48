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
    .inspect = inspect_writes_all};

}  // namespace lockstep::judge
