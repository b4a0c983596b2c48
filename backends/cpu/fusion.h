/// @file
/// What conv2d and dense do in a compiled graph besides their products.
///
/// Units compiled for newer instruction sets include this header, so it must define no function.
#pragma once
#include <stdint.h>

namespace lockstep::cpu {

/// How an image lies in memory: as int32 rows of each channel; in a compiled graph also as cells or
/// pixels (pack.h), or as an int32 row of all channels for each place, as a matrix has them.
enum class Form : uint8_t { rows, cells, pixels, places };

/// Rounds off the last `shift` bits of a value, ties toward plus infinity, and clamps the rest.
struct Rescale {
  int32_t half = 0;  ///< 2^(shift - 1), or 0 if there is no shift
  int32_t shift = 0;
  int32_t low = INT32_MIN, high = INT32_MAX;
};

/// What becomes of sums: they are rescaled and, after a tensor is added, rescaled again.
struct Finish {
  Rescale sum, total;
  bool adds = false;
};

}  // namespace lockstep::cpu
