/// @file
/// What conv2d and dense do besides in a compiled graph.
///
/// Units compiled for newer instruction sets include this header, so it must define no function.
#pragma once
#include <stdint.h>

namespace lockstep::cpu {

/// How an image lies in memory: int32 rows of each channel; in a compiled graph cells or pixels
/// (pack.h); or int32 rows of each place, which have all channels, as a matrix has them.
enum class Form : uint8_t { rows, cells, pixels, places };

/// Rounds off the last `shift` bits of a value, ties toward plus infinity, and clamps the rest.
struct Rescale {
  int32_t half = 0;  ///< 2^(shift - 1), or 0 if there is no shift
  int32_t shift = 0;
  int32_t low = INT32_MIN, high = INT32_MAX;
};

/// What becomes of sums: they are rescaled, and after the addition of a tensor again.
struct Finish {
  Rescale sum, total;
  bool adds = false;
};

}  // namespace lockstep::cpu
