/// @file
/// Tiles for the dot product instructions of Arm: sdot multiplies signed cells and signed rows.
#include <arm_neon.h>

#include "backends/cpu/dot_by_word.h"

namespace lockstep::cpu {
namespace {

struct DotProd : VectorOf<4> {
  static constexpr int kTerms = 4, kOffset = 0, kLanes = 4, kRows = 8, kSlots = 3;
  static Words four(const Word* words) { return load(words); }
  static Words four_of(Word a, Word b, Word c) { return Words{a, b, c, c}; }
  template <int kWord> static Words added(Words sum, Words cells, Words rows) {
    return reinterpret_cast<Words>(vdotq_laneq_s32(reinterpret_cast<int32x4_t>(sum),
        reinterpret_cast<int8x16_t>(cells), reinterpret_cast<int8x16_t>(rows), kWord));
  }
  static void add_products(Words& sum, Words cells, Words rows, int word) {
    sum = word == 0 ? added<0>(sum, cells, rows)
        : word == 1 ? added<1>(sum, cells, rows)
        : word == 2 ? added<2>(sum, cells, rows)
                    : added<3>(sum, cells, rows);
  }
  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    multiply_by_word<DotProd>(t, sum);
  }
};

constexpr DotKernels kKernels = Tiles<DotProd>::kernels("dotprod", 80);

}  // namespace

const DotKernels& dot_dotprod() { return kKernels; }

}  // namespace lockstep::cpu
