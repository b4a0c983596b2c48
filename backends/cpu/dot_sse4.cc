/// @file
/// Tiles for SSE4: pmaddwd, whose sum of two products is exact in int32.
#include <immintrin.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Sse4 : VectorOf<4> {
  static constexpr int kTerms = 2, kCellBytes = 4, kOffset = 0, kLanes = 4, kRows = 6, kSlots = 2;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum += reinterpret_cast<Words>(
        _mm_madd_epi16(reinterpret_cast<__m128i>(cells), reinterpret_cast<__m128i>(row)));
    // Without this barrier g++ 12 computes all products first and spills the sums to memory.
    __asm__ volatile("" : "+x"(sum));
  }
};

/// Cells of half the size, which cost one more instruction.
struct Sse4FewRows : Sse4 {
  static constexpr int kCellBytes = 2, kRows = 2, kSlots = 4;
  static Words cells(const uint8_t* from) {
    return reinterpret_cast<Words>(
        _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
};

constexpr DotKernels kFewRows = Tiles<Sse4FewRows>::kernels("sse4", 35);

}  // namespace

constinit const DotKernels kDotSse4 = Tiles<Sse4>::kernels("sse4", 35, &kFewRows);

}  // namespace lockstep::cpu
