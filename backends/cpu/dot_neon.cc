/// @file
/// Tiles for NEON without dot products.
#include <arm_neon.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Neon : VectorOf<4> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 0, kLanes = 4, kRows = 8, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  // Two products of 8-bit values add up to at most 2 * 127 * 127 < 2^15.
  static void add_products(Words& sum, Words cells, Words row) {
    const auto x = reinterpret_cast<int8x16_t>(cells), w = reinterpret_cast<int8x16_t>(row);
    const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w)), high = vmull_high_s8(x, w);
    sum = reinterpret_cast<Words>(
        vpadalq_s16(reinterpret_cast<int32x4_t>(sum), vpaddq_s16(low, high)));
    // Without this barrier g++ 12 computes many products first and spills sums to memory.
    __asm__ volatile("" : "+w"(sum));
  }
};

}  // namespace

constinit const DotKernels kDotNeon = Tiles<Neon>::kernels("neon", 20);

}  // namespace lockstep::cpu
