/// @file
/// Tiles for the dot product instructions of Arm: sdot multiplies signed cells and signed rows.
#include <arm_neon.h>

#include "backends/cpu/dot_by_word.h"

namespace lockstep::cpu {
namespace {

struct DotProd : VectorOf<4> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 0, kLanes = 4, kRows = 8, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum = reinterpret_cast<Words>(vdotq_s32(reinterpret_cast<int32x4_t>(sum),
        reinterpret_cast<int8x16_t>(cells), reinterpret_cast<int8x16_t>(row)));
  }
  static Words four(const Word* words) { return load(words); }
  static Words four_of(Word a, Word b, Word c) { return Words{a, b, c, c}; }
  template <int kWord> static Words added(Words sum, Words cells, Words rows) {
    return reinterpret_cast<Words>(vdotq_laneq_s32(reinterpret_cast<int32x4_t>(sum),
        reinterpret_cast<int8x16_t>(cells), reinterpret_cast<int8x16_t>(rows), kWord));
  }
  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    multiply_by_word<DotProd>(t, sum);
  }
};

}  // namespace

constinit const DotKernels kDotDotprod = Tiles<DotProd>::kernels("dotprod", 80);

}  // namespace lockstep::cpu
