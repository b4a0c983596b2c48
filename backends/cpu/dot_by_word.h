/// @file
/// The inner loop for instructions that multiply by one word of a vector: one load brings four rows
/// to all of them.
#pragma once
#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

/// For a class of dot_tile.h that also defines
///
///     Words four(const Word* words)           in every 16 bytes
///     Words four_of(Word a, Word b, Word c)   the same of a, b, c and any
///     template <int kWord> Words added(Words sum, Words cells, Words rows)
template <class Set, int R, int S, class Words>
void multiply_by_word(const Tile& t, Words (&sum)[R][S]) {
  const uint8_t* cells[S];
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) cells[s] = t.slots[s].cells;
  const Word* row = t.rows;
  for (int64_t k = 0; k < t.steps; ++k, row += R) {
    Words x[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) x[s] = Set::cells(cells[s] + t.offset[k]);
    // Nothing is read beyond the last row: where fewer than four are left, some are loaded again.
    Words rows = R < 4 ? Set::four_of(row[0], row[R / 2], row[R - 1]) : Set::four(row);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const int first = r < 4 ? 0 : R - 4, word = r - first;
      if (r == 4) rows = Set::four(row + first);
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s)
        sum[r][s] = word == 0 ? Set::template added<0>(sum[r][s], x[s], rows)
            : word == 1       ? Set::template added<1>(sum[r][s], x[s], rows)
            : word == 2       ? Set::template added<2>(sum[r][s], x[s], rows)
                              : Set::template added<3>(sum[r][s], x[s], rows);
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
