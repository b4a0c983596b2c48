/// @file
/// Tiles for AVX2. This is the only unit compiled with -mavx2. It may export nothing but the table,
/// and may include no header that defines functions.
///
/// Terms are int16 and multiplied by vpmaddwd, whose sum of two products is exact in int32;
/// vpmaddubsw would saturate at 2^15 on full-range data.
#include <immintrin.h>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {
namespace {

inline __m256i load(const Pair* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

inline void add_products(__m256i& sum, __m256i w, __m256i x) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(w, x));
  // Without this barrier g++ 12 computes all products first and spills the sums to memory.
  __asm__ volatile("" : "+x"(sum));
}

template <int R> void tile_of(const Pair* row, const int32_t* offset, int64_t terms,
    const Pair* slot0, const Pair* slot1, int32_t* tile) {
  __m256i sum0[R], sum1[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum0[r] = sum1[r] = _mm256_setzero_si256();
  for (int64_t t = 0; t < terms; ++t, row += R) {
    const __m256i x0 = load(slot0 + offset[t]), x1 = load(slot1 + offset[t]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const __m256i w = _mm256_set1_epi32(static_cast<int32_t>(row[r]));
      add_products(sum0[r], w, x0);
      add_products(sum1[r], w, x1);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    auto* to = reinterpret_cast<__m256i*>(tile + int64_t{r} * kSlots * kLanes);
    _mm256_storeu_si256(to, sum0[r]);
    _mm256_storeu_si256(to + 1, sum1[r]);
  }
}

constexpr DotKernels kKernels = {
    "avx2", 6, {tile_of<1>, tile_of<2>, tile_of<3>, tile_of<4>, tile_of<5>, tile_of<6>}, 60};

}  // namespace

const DotKernels& dot_avx2() { return kKernels; }

}  // namespace lockstep::cpu
