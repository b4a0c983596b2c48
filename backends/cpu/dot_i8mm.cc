/// @file
/// Tiles for the matrix instructions of Arm: smmla multiplies two rows and two lanes by eight
/// terms, which are those of two steps.
#include <arm_neon.h>

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct I8mm : VectorOf<4> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 0, kLanes = 4, kRows = 8, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  // A single row gains nothing by smmla.
  static void add_products(Words& sum, Words cells, Words row) {
    sum = reinterpret_cast<Words>(vdotq_s32(reinterpret_cast<int32x4_t>(sum),
        reinterpret_cast<int8x16_t>(cells), reinterpret_cast<int8x16_t>(row)));
  }

  /// The sums of two rows: `low` has those of lanes 0 and 1, `high` those of lanes 2 and 3.
  struct Square {
    Words low, high;
  };
  static Words low_halves(Words a, Words b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
  static Words high_halves(Words a, Words b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }
  static Words low_pairs(Words a, Words b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
  static Words high_pairs(Words a, Words b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }

  // Without these barriers g++ 12 loads all operands first and spills sums to memory.
  static void keep_order(Words& v) { __asm__ volatile("" : "+w"(v)); }

  static void add_matrix(Words& sum, Words rows, Words cells) {
    sum = reinterpret_cast<Words>(vmmlaq_s32(reinterpret_cast<int32x4_t>(sum),
        reinterpret_cast<int8x16_t>(rows), reinterpret_cast<int8x16_t>(cells)));
    keep_order(sum);
  }

  /// A vector of two rows in its low lanes; the second row may be missing.
  static Words pair(const Word* words, bool has_second) {
    const uint32x2_t zero = vdup_n_u32(0);
    return reinterpret_cast<Words>(
        vcombine_u32(has_second ? vld1_u32(words) : vld1_lane_u32(words, zero, 0), zero));
  }

  /// Adds the products of two steps, or of one step and zeros.
  template <bool kTwo, int R, int S> static void add_steps(const Word* rows,
      const uint8_t* const (&cells)[S], const int32_t* offset, Square (&sum)[(R + 1) / 2][S]) {
    constexpr int kPairs = (R + 1) / 2;
    Words w[kPairs];
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; ++p) {
      const bool is_whole = 2 * p + 1 < R;
      const Word* row = rows + int64_t{2} * p;
      w[p] = low_pairs(pair(row, is_whole), kTwo ? pair(row + R, is_whole) : Words{});
      keep_order(w[p]);
    }
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      const Words x = load(cells[s] + offset[0]),
                  next = kTwo ? load(cells[s] + offset[1]) : Words{};
      const Words low = low_pairs(x, next), high = high_pairs(x, next);
#pragma GCC unroll 8
      for (int p = 0; p < kPairs; ++p) {
        add_matrix(sum[p][s].low, w[p], low);
        add_matrix(sum[p][s].high, w[p], high);
      }
    }
  }

  template <int R, int S>
  requires(R > 1) static void multiply(const Tile& t, Words (&sum)[R][S]) {
    Square square[(R + 1) / 2][S];
    const uint8_t* cells[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      cells[s] = t.slots[s].cells;
#pragma GCC unroll 8
      for (int r = 0; r < R; r += 2) {
        const Words next = r + 1 < R ? sum[r + 1][s] : Words{};
        square[r / 2][s] = {low_halves(sum[r][s], next), high_halves(sum[r][s], next)};
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
        sum[r][s] = r % 2 == 0 ? low_halves(q.low, q.high) : high_halves(q.low, q.high);
      }
  }
};

}  // namespace

constinit const DotKernels kDotI8mm = Tiles<I8mm>::kernels("i8mm", 120);

}  // namespace lockstep::cpu
