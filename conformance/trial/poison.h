/// @file
/// Poison: what outputs hold before a call. Each run draws it, so that no backend can foresee it;
/// reports always give it the same names.
#pragma once
#include "conformance/host/drawn_number.h"
#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

inline constexpr i32 kPoison = INT32_MIN;  ///< in reports: no legal value
inline constexpr i32 kOtherPoison = 0x5eed5eed;

/// The number that memory holds in this run where a report says `name`.
inline i32 drawn_poison(i32 name) {
  static const u64 secret = drawn_number();
  return static_cast<i32>(word(secret, static_cast<std::uint32_t>(name), 0));
}

/// Replaces the drawn poison by its name in the wrong elements of an answer.
inline void name_poison(Answer& a, const std::vector<Tensor>& expected, i32 name) {
  const i32 drawn = drawn_poison(name);
  for (std::size_t k = 0; k < std::min(a.out.size(), expected.size()); ++k) {
    if (a.out[k] == expected[k].data) continue;
    for (std::size_t i = 0; i < std::min(a.out[k].size(), expected[k].data.size()); ++i)
      if (a.out[k][i] == drawn && expected[k].data[i] != drawn) a.out[k][i] = name;
  }
}

}  // namespace lockstep::judge
