/// @file
/// Tiles for AVX2: vpmaddwd, whose sum of two products is exact in int32; vpmaddubsw would saturate
/// at 2^15 on full-range data.
#include <immintrin.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Avx2 : VectorOf<8> {
  static constexpr int kTerms = 2, kCellBytes = 4, kOffset = 0, kLanes = 8, kRows = 6, kSlots = 2;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum += reinterpret_cast<Words>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(cells), reinterpret_cast<__m256i>(row)));
    // Without this barrier g++ 12 computes all products first and spills the sums to memory.
    __asm__ volatile("" : "+x"(sum));
  }
};

/// Cells of half the size, which cost one more instruction.
struct Avx2FewRows : Avx2 {
  static constexpr int kCellBytes = 2, kRows = 2, kSlots = 4;
  static Words cells(const uint8_t* from) {
    return reinterpret_cast<Words>(
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
};

constexpr DotKernels kFewRows = Tiles<Avx2FewRows>::kernels("avx2", 80);

}  // namespace

constinit const DotKernels kDotAvx2 = Tiles<Avx2>::kernels("avx2", 80, &kFewRows);

}  // namespace lockstep::cpu
