#pragma once
#include <fmt/format.h>

#include "conformance/trial/canary.h"

namespace lockstep::judge {

/// The backend got outputs of the types that follow from the call. A vector that records other
/// types freezes another result, so it cannot match.
inline std::optional<Finding> inspect_vector(const Trial& t, Observations) {
  for (std::size_t k = 0; k < t.expected.size(); ++k) {
    const Type &frozen = t.expected[k].type, &inferred = t.types[static_cast<int>(k)];
    if (frozen == inferred) continue;
    const auto text = [](const Type& of) {
      return type_text({{of.shape.begin(), of.shape.end()}, of.precision});
    };
    return Finding{fmt::format("output {}: the vector expects {}, its call gives {}", k,
                       text(frozen), text(inferred)),
        {}};
  }
  return difference(t.expected, t.base);
}

/// Flips a bit of the answer, or freezes another type.
inline bool expect_another(Trial& t, std::span<Observation> seen, u64 draw) {
  const u64 w = word(draw, 3, 7);
  if (w % 2 == 0) return flip_plain(t, seen, draw);
  ++t.expected[w / 2 % t.expected.size()].type.precision;
  return true;
}

inline constexpr Property kMatchesVectors{.name = "matches_vectors",
    .text = "the frozen golden vectors give their frozen results",
    .about = kVectors,
    .applies = [](const Trial& t) { return t.item->what == Item::vector; },
    .inspect = inspect_vector,
    .plant = expect_another};

}  // namespace lockstep::judge
