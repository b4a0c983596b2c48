/// @file
/// The tensors of libraries for devices: bytes, the channels last, padded with zeros to multiples
/// that their kernels take.
#pragma once
#include <cstdint>
#include <vector>

#include "bench/peers/module.h"

namespace lockstep::bench {

/// The least multiple of `of` that is not smaller.
constexpr int64_t padded(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

/// Values of N C H W, or of N C, as bytes of N' H W C' with N' >= N and C' >= C.
inline std::vector<int8_t> channels_last(
    const int32_t* values, const MatrixCall::Extents& e, int64_t outer, int64_t channels) {
  const int64_t places = e.size() == 4 ? e[2] * e[3] : 1;
  std::vector<int8_t> bytes(static_cast<std::size_t>(outer * places * channels));
  for (int64_t n = 0; n < e[0]; ++n)
    for (int64_t c = 0; c < e[1]; ++c)
      for (int64_t p = 0; p < places; ++p)
        bytes[static_cast<std::size_t>((n * places + p) * channels + c)] =
            static_cast<int8_t>(values[(n * e[1] + c) * places + p]);
  return bytes;
}

/// How many of the expected values N C H W, or N C, differ from those of a result N' H W C'.
template <class T> int64_t differences(
    const T* result, const int32_t* expected, const MatrixCall::Extents& e, int64_t channels) {
  const int64_t places = e.size() == 4 ? e[2] * e[3] : 1;
  int64_t different = 0;
  for (int64_t n = 0; n < e[0]; ++n)
    for (int64_t c = 0; c < e[1]; ++c)
      for (int64_t p = 0; p < places; ++p)
        different += result[(n * places + p) * channels + c] !=
            static_cast<T>(expected[(n * e[1] + c) * places + p]);
  return different;
}

}  // namespace lockstep::bench
