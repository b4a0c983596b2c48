/// @file
/// Tiles for AVX-VNNI: vpdpbusd multiplies unsigned cells and signed rows.
#include "backends/cpu/dot_avx2.h"
#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct AvxVnni : Avx2Vector {
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
};

}  // namespace

constinit const DotKernels kDotAvxVnni = Tiles<AvxVnni>::kernels("avxvnni", 180);

}  // namespace lockstep::cpu
