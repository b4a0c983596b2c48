/// @file
/// Arithmetic on 64-bit integers, exact, with each operation defined once.
#pragma once
#include <cstdint>

namespace lockstep {

using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr int kMaxPrecision = 32;            ///< of a tensor
inline constexpr i64 kIntMax = (i64{1} << 31) - 1;  ///< the largest element of precision 32

constexpr i64 min(i64 a, i64 b) { return a < b ? a : b; }
constexpr i64 max(i64 a, i64 b) { return a < b ? b : a; }
constexpr i64 clamp(i64 v, i64 lo, i64 hi) { return v < lo ? lo : v > hi ? hi : v; }
constexpr i64 magnitude(i64 v) { return v < 0 ? -v : v; }

/// n / d rounded toward plus infinity; d > 0, n of either sign.
constexpr i64 ceil_div(i64 n, i64 d) { return n / d + (n % d > 0 ? 1 : 0); }

/// floor(v / 2^s), 0 <= s <= 63; an arithmetic shift by C++20.
constexpr i64 floor_shift(i64 v, i64 s) { return v >> s; }

/// Bit length of a non-negative integer; 0 has none.
constexpr int bit_length(i64 n) {
  int b = 0;
  for (; n > 0; n >>= 1) ++b;
  return b;
}

/// The largest magnitude of precision p: 2^(p-1) - 1, p in 1..32.
constexpr i64 max_of(i64 precision) { return (i64{1} << (precision - 1)) - 1; }

/// Clamps to a precision.
constexpr i64 saturate(i64 v, i64 precision) {
  return clamp(v, -max_of(precision), max_of(precision));
}

}  // namespace lockstep
