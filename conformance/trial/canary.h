/// @file
/// Canaries: faults that properties plant in what they observed.
#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

/// Flips one bit of one output of an answer. @return whether it has outputs
inline bool flip_bit(Answer& a, u64 draw) {
  if (!a.ok() || a.out.empty()) return false;
  const u64 w = word(draw, 3, 5);
  std::vector<i32>& out = a.out[draw % a.out.size()];
  i32& e = out[w % out.size()];
  e = static_cast<i32>(static_cast<std::uint32_t>(e) ^ (1u << (w >> 32) % 32));
  return true;
}

/// Flips one bit in the answer to the plain call.
inline bool flip_plain(Trial& t, std::span<Observation>, u64 draw) {
  return flip_bit(t.base, draw);
}

/// Flips one bit in one of the property's own observations.
inline bool flip_observed(Trial&, std::span<Observation> seen, u64 draw) {
  Observation& o = seen[word(draw, 3, 6) % seen.size()];
  return o.answer && flip_bit(*o.answer, draw);
}

}  // namespace lockstep::judge
