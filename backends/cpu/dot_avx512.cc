/// @file
/// Tiles for AVX-512 without VNNI: vpmaddwd, whose sum of two products is exact in int32.
#include "backends/cpu/dot_avx512.h"

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Avx512 : Avx512Vector {
  static constexpr int kTerms = 2, kCellBytes = 4, kOffset = 0, kLanes = 16, kRows = 8, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum += reinterpret_cast<Words>(
        _mm512_madd_epi16(reinterpret_cast<__m512i>(cells), reinterpret_cast<__m512i>(row)));
  }
};

/// Cells of half the size, which cost one more instruction.
struct Avx512FewRows : Avx512 {
  static constexpr int kCellBytes = 2, kRows = 4, kSlots = 4;
  static Words cells(const uint8_t* from) {
    return reinterpret_cast<Words>(
        _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  }
};

constexpr DotKernels kFewRows = Tiles<Avx512FewRows>::kernels("avx512", 150);

}  // namespace

constinit const DotKernels kDotAvx512 = Tiles<Avx512>::kernels("avx512", 150, &kFewRows);

}  // namespace lockstep::cpu
