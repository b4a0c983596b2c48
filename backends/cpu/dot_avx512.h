/// @file
/// The vectors of AVX-512.
#pragma once
#include <immintrin.h>

#include "backends/cpu/dot_vector.h"

namespace lockstep::cpu {
namespace {

struct Avx512Vector : VectorOf<16> {
  static __mmask16 part(int k, int count) {
    return static_cast<__mmask16>(((1U << count) - 1) << (4 * k));
  }
  static Words load_parts(const int32_t* from, int64_t stride, int count) {
    __m512i v = _mm512_setzero_si512();
    for (int k = 0; k < 4; ++k, from += stride - 4)
      v = _mm512_mask_loadu_epi32(v, part(k, count), from);
    return reinterpret_cast<Words>(v);
  }
  static void store_parts(int32_t* to, int64_t stride, Words v, int count) {
    for (int k = 0; k < 4; ++k, to += stride - 4)
      _mm512_mask_storeu_epi32(to, part(k, count), reinterpret_cast<__m512i>(v));
  }
  static void store_some(int32_t* to, Words v, int first, int count) {
    const auto lanes = static_cast<__mmask16>(((1U << count) - 1) << first);
    _mm512_mask_storeu_epi32(to - first, lanes, reinterpret_cast<__m512i>(v));
  }
  static Words load_some(const int32_t* from, int first, int count) {
    const auto lanes = static_cast<__mmask16>(((1U << count) - 1) << first);
    return reinterpret_cast<Words>(_mm512_maskz_loadu_epi32(lanes, from - first));
  }
};

}  // namespace
}  // namespace lockstep::cpu
