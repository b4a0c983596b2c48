/// @file
/// The inner loop for instructions that multiply by one word of a vector: one load serves four
/// rows. A class of dot_tile.h can use it if it also defines
///
///     Words four(const Word* words)           repeated in every 16 bytes
///     Words four_of(Word a, Word b, Word c)   the same of a, b, c and anything
///     template <int kWord> Words added(Words sum, Words cells, Words four)
#pragma once
#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

/// Multiplies by the words from kWord on, which belong to the rows from kRow on.
template <class Set, int kRow, int kWord, int R, int S, class Words>
[[gnu::always_inline]] inline void add_words(Words (&sum)[R][S], const Words (&x)[S], Words four) {
  if constexpr (kRow < R && kWord < 4) {
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) sum[kRow][s] = Set::template added<kWord>(sum[kRow][s], x[s], four);
    add_words<Set, kRow + 1, kWord + 1>(sum, x, four);
  }
}

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
    if constexpr (R < 4) {
      add_words<Set, 0, 0>(sum, x, Set::four_of(row[0], row[R / 2], row[R - 1]));
    } else {
      add_words<Set, 0, 0>(sum, x, Set::four(row));
      // The last four rows, so that nothing is read beyond them.
      add_words<Set, 4, 8 - R>(sum, x, Set::four(row + R - 4));
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
