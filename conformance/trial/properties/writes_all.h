#pragma once
#include "conformance/trial/properties/deterministic.h"

namespace lockstep::judge {

std::optional<Finding> inspect_writes_all(const Trial& t, Observations seen);

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
