/// @file
/// Tiles for AVX2: vpmaddwd, whose sum of two products is exact in int32; vpmaddubsw would saturate
/// at 2^15 on full-range data.
#include "backends/cpu/dot_avx2.h"

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Avx2 : Avx2Vector {
  static constexpr int kTerms = 2, kCellBytes = 4, kOffset = 0, kLanes = 8, kRows = 6, kSlots = 2;
  static Words cells(const uint8_t* from) { return load(from); }
  // These barriers keep the order of instructions: otherwise g++ 12 computes all products of a tile
  // first and spills the sums to memory.
  static Words product(Words cells, Words row) {
    auto product = reinterpret_cast<Words>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(cells), reinterpret_cast<__m256i>(row)));
    __asm__ volatile("" : "+x"(product));
    return product;
  }
  static void add(Words& sum, Words product) {
    sum += product;
    __asm__ volatile("" : "+x"(sum));
  }
  static void add_products(Words& sum, Words cells, Words row) { add(sum, product(cells, row)); }
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
