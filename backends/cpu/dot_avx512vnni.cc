/// @file
/// Tiles for AVX-512 with VNNI: vpdpbusd multiplies unsigned cells and signed rows.
#include <immintrin.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Avx512Vnni : VectorOf<16> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 128, kLanes = 16, kRows = 8,
                       kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum = reinterpret_cast<Words>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
        reinterpret_cast<__m512i>(cells), reinterpret_cast<__m512i>(row)));
  }
  static Words narrowed(Words a, Words b, Words c, Words d) {
    const auto halves = [](Words low, Words high) {
      return _mm512_packs_epi32(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high));
    };
    return reinterpret_cast<Words>(_mm512_packs_epi16(halves(a, b), halves(c, d)));
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

constexpr DotKernels kKernels = Tiles<Avx512Vnni>::kernels("avx512vnni", 300);

}  // namespace

const DotKernels& dot_avx512vnni() { return kKernels; }

}  // namespace lockstep::cpu
