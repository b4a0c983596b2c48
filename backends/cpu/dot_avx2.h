/// @file
/// The vectors of AVX2.
#pragma once
#include <immintrin.h>

#include "backends/cpu/dot_vector.h"

namespace lockstep::cpu {
namespace {

struct Avx2Vector : VectorOf<8> {
  static __m128i first_words(int count) {
    return _mm_cmpgt_epi32(_mm_set1_epi32(count), _mm_setr_epi32(0, 1, 2, 3));
  }
  static Words load_parts(const int32_t* from, int64_t stride, int count) {
    const __m128i some = first_words(count);
    return reinterpret_cast<Words>(
        _mm256_set_m128i(_mm_maskload_epi32(from + stride, some), _mm_maskload_epi32(from, some)));
  }
  static void store_parts(int32_t* to, int64_t stride, Words v, int count) {
    const __m128i some = first_words(count);
    const auto all = reinterpret_cast<__m256i>(v);
    _mm_maskstore_epi32(to, some, _mm256_castsi256_si128(all));
    _mm_maskstore_epi32(to + stride, some, _mm256_extracti128_si256(all, 1));
  }
};

}  // namespace
}  // namespace lockstep::cpu
