/// @file
/// Tiles for AVX-VNNI: vpdpbusd multiplies unsigned cells and signed rows.
#include <immintrin.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct AvxVnni : VectorOf<8> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 128, kLanes = 8, kRows = 4, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum = reinterpret_cast<Words>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum),
        reinterpret_cast<__m256i>(cells), reinterpret_cast<__m256i>(row)));
  }
  static Words narrowed(Words a, Words b, Words c, Words d) {
    const auto halves = [](Words low, Words high) {
      return _mm256_packs_epi32(reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(high));
    };
    return reinterpret_cast<Words>(_mm256_packs_epi16(halves(a, b), halves(c, d)));
  }
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

constinit const DotKernels kDotAvxVnni = Tiles<AvxVnni>::kernels("avxvnni", 180);

}  // namespace lockstep::cpu
