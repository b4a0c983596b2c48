/// @file
/// Tiles for the matrix instructions of Arm: smmla multiplies two rows and two lanes by eight
/// terms, which are those of two steps.
#include <arm_neon.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct I8mm : VectorOf<4> {
  static constexpr int kTerms = 4, kOffset = 0, kLanes = 4, kRows = 8, kSlots = 3;

  /// Both rows of lanes 0 and 1, and of lanes 2 and 3.
  struct Square {
    Words low, high;
  };
  template <class V> static Words first_halves(V a, V b) {
    return reinterpret_cast<Words>(
        vzip1q_u64(reinterpret_cast<uint64x2_t>(a), reinterpret_cast<uint64x2_t>(b)));
  }
  template <class V> static Words last_halves(V a, V b) {
    return reinterpret_cast<Words>(
        vzip2q_u64(reinterpret_cast<uint64x2_t>(a), reinterpret_cast<uint64x2_t>(b)));
  }
  // Without these barriers g++ 12 loads all operands first and spills sums to memory.
  template <class V> static void keep_order(V& v) { __asm__ volatile("" : "+w"(v)); }

  static void add_products(Words& sum, uint32x4_t rows, uint32x4_t cells) {
    sum = reinterpret_cast<Words>(vmmlaq_s32(
        reinterpret_cast<int32x4_t>(sum), vreinterpretq_s8_u32(rows), vreinterpretq_s8_u32(cells)));
    keep_order(sum);
  }
  /// The words of a pair of rows, the second of which may be missing.
  static uint32x4_t pair(const Word* words, bool is_whole) {
    return vcombine_u32(
        is_whole ? vld1_u32(words) : vld1_lane_u32(words, vdup_n_u32(0), 0), vdup_n_u32(0));
  }

  /// Adds the products of two steps; without a second one those of its terms are zeros.
  template <bool kTwo, int R, int S> static void add_steps(const Word* rows,
      const uint8_t* const (&cells)[S], const int32_t* offset, Square (&sum)[(R + 1) / 2][S]) {
    constexpr int kPairs = (R + 1) / 2;
    const uint32x4_t zero = vdupq_n_u32(0);
    uint32x4_t w[kPairs];
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; ++p) {
      const bool is_whole = 2 * p + 1 < R;
      w[p] =
          vzip1q_u32(pair(rows + 2 * p, is_whole), kTwo ? pair(rows + R + 2 * p, is_whole) : zero);
      keep_order(w[p]);
    }
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      const auto x = reinterpret_cast<uint32x4_t>(load(cells[s] + offset[0])),
                 next = kTwo ? reinterpret_cast<uint32x4_t>(load(cells[s] + offset[1])) : zero;
      const uint32x4_t low = vzip1q_u32(x, next), high = vzip2q_u32(x, next);
#pragma GCC unroll 8
      for (int p = 0; p < kPairs; ++p) {
        add_products(sum[p][s].low, w[p], low);
        add_products(sum[p][s].high, w[p], high);
      }
    }
  }

  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    constexpr int kPairs = (R + 1) / 2;
    Square square[kPairs][S];
    const uint8_t* cells[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      cells[s] = t.slots[s].cells;
#pragma GCC unroll 8
      for (int p = 0; p < kPairs; ++p) {
        const Words a = sum[2 * p][s], b = 2 * p + 1 < R ? sum[2 * p + 1][s] : Words{};
        square[p][s] = {first_halves(a, b), last_halves(a, b)};
      }
    }
    int64_t k = 0;
    for (; k + 2 <= t.steps; k += 2)
      add_steps<true, R>(t.rows + k * R, cells, t.offset + k, square);
    if (k < t.steps) add_steps<false, R>(t.rows + k * R, cells, t.offset + k, square);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const Square& q = square[r / 2][s];
        sum[r][s] = r % 2 == 0 ? first_halves(q.low, q.high) : last_halves(q.low, q.high);
      }
  }
};

constexpr DotKernels kKernels = Tiles<I8mm>::kernels("i8mm", 120);

}  // namespace

const DotKernels& dot_i8mm() { return kKernels; }

}  // namespace lockstep::cpu
