/// @file
/// non_max_suppression and get_valid_counts: rows of boxes are chosen, then written. Sorting counts
/// for each row those before it, which is stable and needs no order of threads; suppression
/// compares all pairs that can be read at once and then walks through the rows, 32 at a time.
#pragma once
#include "backends/cuda/kernels/kernel.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/non_max_suppression.h"

namespace lockstep::cuda {

inline constexpr u32 kWordRows = 32;  ///< rows of a word of bits
inline constexpr int kBoxWords = NonMaxSuppression::kColumns;

struct DetectionParameters {
  NonMaxSuppressionAttrs attrs;
  u32 batches, rows;
  u32 most_read, words;  ///< rows that are read at most; words of their bits
  Divisor sort_blocks;   ///< of a batch
  i64 xs[3], valid_stride;
  const i32 *x, *valid;
  i32* sorted;  ///< (B, n, 6)
  u32* rivals;  ///< (B, most_read, words): the later rows that a row suppresses
  i32* chosen;  ///< (B, n): the rows that are kept, in their order
  i32* count;   ///< (B)

  constexpr u32 valid_rows(i64 given) const { return static_cast<u32>(clamp(given, 0, rows)); }
  /// Rows that are read.
  constexpr u32 read(u32 given) const {
    return attrs.top_k < 0 ? given : static_cast<u32>(min(given, attrs.top_k));
  }
  /// Rows that are kept at most.
  constexpr u32 most(u32 given) const {
    return attrs.max_output_size < 0 ? given : static_cast<u32>(min(given, attrs.max_output_size));
  }
};

/// Puts the valid rows in descending order of scores, and rows of equal scores in their own order.
/// The threads that share a row count parts of the rows before it, then move a column each.
struct SortRows {
  using Parameters = DetectionParameters;
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kSharing = 8, kRows = kThreads / kSharing;
  static constexpr int kShared = kThreads * 4, kOccupancy = 4;
  static_assert(kSharing >= kBoxWords);

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Divided at = divide(static_cast<u32>(block.number()), p.sort_blocks);
    const u32 b = at.quotient, valid = p.valid_rows(block.get(p.valid + b * p.valid_stride));
    const i32* x = p.x + b * p.xs[0];
    const auto row_of = [&](int id) { return at.rest * kRows + static_cast<u32>(id) / kSharing; };
    block.each([&](auto& t) {
      const u32 row = row_of(t.id);
      if (row >= valid) return;
      const auto score = [&](u32 r) {
        return t.get(x + r * p.xs[1] + NonMaxSuppression::kScore * p.xs[2]);
      };
      const i32 own = score(row);
      u32 before = 0;
      for (u32 r = static_cast<u32>(t.id) % kSharing; r < valid; r += kSharing) {
        const i32 other = score(r);
        before += other > own || (other == own && r < row) ? 1 : 0;
      }
      t.store(t.id * 4, before);
    });
    block.sync();
    block.each([&](auto& t) {
      const u32 row = row_of(t.id);
      const int column = t.id % kSharing;
      if (row >= valid || column >= kBoxWords) return;
      u32 place = 0;
      for (int k = 0; k < kSharing; ++k) place += t.template load<u32>((t.id - column + k) * 4);
      t.put(p.sorted + (i64{b} * p.rows + place) * kBoxWords + column,
          t.get(x + row * p.xs[1] + column * p.xs[2]));
    });
  }
};

/// Two rows as the specification's functions read them.
template <class Thread> struct Rows {
  const i32* first;
  Thread& thread;
  LOCKSTEP_DEVICE constexpr i32 operator()(i64, i64 row, int column) const {
    return thread.get(first + row * kBoxWords + column);
  }
};

/// Finds which rows suppress which later ones: a thread for each row and word.
struct CompareRows {
  using Parameters = DetectionParameters;
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      const i64 k = block.number() * kThreads + t.id;
      if (k >= i64{p.batches} * p.most_read * p.words) return;
      const u32 word = static_cast<u32>(k % p.words);
      const u32 row = static_cast<u32>(k / p.words % p.most_read);
      const u32 b = static_cast<u32>(k / p.words / p.most_read);
      const u32 read = p.read(p.valid_rows(t.get(p.valid + b * p.valid_stride)));
      const Rows<std::remove_reference_t<decltype(t)>> rows{
          p.sorted + i64{b} * p.rows * kBoxWords, t};
      constexpr int kId = NonMaxSuppression::kId;
      u32 bits = 0;
      for (u32 j = 0; j < kWordRows; ++j) {
        const u32 other = word * kWordRows + j;
        if (other <= row || other >= read) continue;
        const bool rivals = p.attrs.force_suppress || rows(0, row, kId) == rows(0, other, kId);
        if (rivals &&
            NonMaxSuppression::overlap_percent(rows, 0, other, row) >= p.attrs.iou_threshold)
          bits |= u32{1} << j;
      }
      t.put(p.rivals + k, bits);
    });
  }
};

/// Keeps the rows that no kept one suppresses: a block for each batch. Its shared memory has a bit
/// for each row that is out and, for each row of a word, bits of the rows there that it suppresses;
/// a row that may not be kept is said to suppress itself.
struct KeepRows {
  using Parameters = DetectionParameters;
  using Registers = NoRegisters;
  static constexpr u32 kWordsMax = 2048;
  static constexpr int kRivals = kWordsMax * 4;
  static constexpr int kThreads = 256, kShared = kRivals + kWordRows * 4, kOccupancy = 1;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const u32 b = static_cast<u32>(block.number());
    const u32 valid = p.valid_rows(block.get(p.valid + b * p.valid_stride));
    const u32 read = p.read(valid), most = p.most(valid);
    const i32* ids = p.sorted + i64{b} * p.rows * kBoxWords + NonMaxSuppression::kId;
    const u32* rivals = p.rivals + i64{b} * p.most_read * p.words;
    block.each([&](auto& t) {
      for (u32 w = static_cast<u32>(t.id); w < p.words; w += kThreads)
        t.store(static_cast<int>(w) * 4, u32{0});
    });
    u32 kept = 0;
    for (u32 word = 0; word * kWordRows < read && kept < most; ++word) {
      const u32 before = kept, first = word * kWordRows;
      block.each([&](auto& t) {
        const u32 row = first + static_cast<u32>(t.id);
        if (t.id >= static_cast<int>(kWordRows)) return;
        u32 bits = u32{1} << t.id;
        if (row < read && t.get(ids + i64{row} * kBoxWords) >= 0)
          bits = t.get(rivals + i64{row} * p.words + word);
        t.store(kRivals + t.id * 4, bits);
      });
      block.sync();
      u32 out = block.template load<u32>(static_cast<int>(word) * 4), now = 0;
      LOCKSTEP_UNROLL
      for (int j = 0; j < static_cast<int>(kWordRows); ++j) {
        const u32 bits = block.template load<u32>(kRivals + j * 4);
        if (((out | bits) >> j & 1) != 0 || kept >= most) continue;
        out |= bits;
        now |= u32{1} << j;
        ++kept;
      }
      block.each([&](auto& t) {
        note(p.chosen + i64{b} * p.rows + before, first, now, t);
        for (u32 w = word + 1 + static_cast<u32>(t.id); w < p.words; w += kThreads)
          suppress(rivals + i64{first} * p.words + w, p.words, read - first, now,
              static_cast<int>(w) * 4, t);
      });
      block.sync();
    }
    block.each([&](auto& t) {
      if (t.id == 0) t.put(p.count + b, static_cast<i32>(kept));
    });
  }

 private:
  /// Writes the numbers of the rows whose bit is set.
  template <class Thread>
  static LOCKSTEP_DEVICE void note(i32* chosen, u32 first, u32 bits, Thread& t) {
    if (t.id >= static_cast<int>(kWordRows) || (bits >> t.id & 1) == 0) return;
    u32 number = 0;
    for (int j = 0; j < t.id; ++j) number += bits >> j & 1;
    t.put(chosen + number, static_cast<i32>(first) + t.id);
  }
  /// Adds to a word the rows there that the kept rows of another word suppress, all read at once.
  template <class Thread> static LOCKSTEP_DEVICE void suppress(
      const u32* rivals, u32 pitch, u32 rows, u32 bits, int word, Thread& t) {
    u32 all = t.template load<u32>(word);
    LOCKSTEP_UNROLL
    for (u32 j = 0; j < kWordRows; ++j)
      all |= j < rows ? t.get(rivals + i64{j} * pitch) & (0 - (bits >> j & 1)) : 0;
    t.store(word, all);
  }
};

/// Writes the rows whose score is above a threshold, in their order, and -1 behind them: a block
/// for a slab of rows. Each counts all rows, so that it knows without another launch where its own
/// ones go.
struct SelectRows {
  struct Parameters {
    i64 threshold;
    u32 rows, slab;
    Divisor slabs, columns;  ///< of a batch
    i64 xs[3], ys[3], count_stride;
    const i32* x;
    i32 *y, *count;
  };
  static constexpr int kThreads = 256, kShared = 2 * kThreads * 4, kOccupancy = 4;
  static constexpr u32 kNowhere = UINT32_MAX;
  struct Registers {
    u32 passes;  ///< whether the thread's row does
    u32 number;  ///< how many rows up to it do
  };

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Divided at = divide(static_cast<u32>(block.number()), p.slabs);
    const u32 b = at.quotient, first = at.rest * p.slab;
    const u32 end = first + p.slab < p.rows ? first + p.slab : p.rows;
    block.each([&](auto& t) { count(p, b, first, t); });
    for (int half = kThreads / 2; half > 0; half /= 2) {
      block.sync();
      block.each([&](auto& t) {
        for (int k = t.id; t.id < half && k < 2 * kThreads; k += kThreads)
          t.store(k * 4, t.template load<u32>(k * 4) + t.template load<u32>((k + half) * 4));
      });
    }
    block.sync();
    const u32 all = block.template load<u32>(0);
    u32 before = block.template load<u32>(kThreads * 4);
    block.each([&](auto& t) {
      if (t.id == 0 && first == 0) t.put(p.count + b * p.count_stride, static_cast<i32>(all));
    });
    for (u32 from = first; from < end; from += kThreads) {
      block.sync();
      const int sums = number_rows(p, b, from, end, block), places = sums ^ kThreads;
      block.each([&](auto& t) {
        t.store((places + t.id) * 4, t.r.passes != 0 ? before + t.r.number - 1 : kNowhere);
      });
      before += block.template load<u32>((sums + kThreads - 1) * 4);
      block.sync();
      block.each([&](auto& t) { write(p, b, from, end, all, places, t); });
    }
  }

 private:
  template <class Thread>
  static LOCKSTEP_DEVICE u32 passes(const Parameters& p, u32 b, u32 row, Thread& t) {
    constexpr i64 kScore = 1;
    return t.get(p.x + b * p.xs[0] + row * p.xs[1] + kScore * p.xs[2]) > p.threshold;
  }
  /// Counts some of the rows that pass, and those of them before the slab.
  template <class Thread>
  static LOCKSTEP_DEVICE void count(const Parameters& p, u32 b, u32 first, Thread& t) {
    u32 all = 0, before = 0;
    for (u32 row = static_cast<u32>(t.id); row < p.rows; row += kThreads) {
      const u32 one = passes(p, b, row, t);
      all += one;
      before += row < first ? one : 0;
    }
    t.store(t.id * 4, all);
    t.store((kThreads + t.id) * 4, before);
  }
  /// Numbers the rows that pass, one for each thread, by a prefix sum: each round sums over twice
  /// as many threads, from one half of the memory to the other. @return the half that has the sums
  template <class Block> static LOCKSTEP_DEVICE int number_rows(
      const Parameters& p, u32 b, u32 from, u32 end, Block& block) {
    block.each([&](auto& t) {
      const u32 row = from + static_cast<u32>(t.id);
      t.r.passes = t.r.number = row < end ? passes(p, b, row, t) : 0;
      t.store(t.id * 4, t.r.number);
    });
    int half = 0;
    for (int reach = 1; reach < kThreads; reach *= 2, half ^= kThreads) {
      block.sync();
      block.each([&](auto& t) {
        const int below = t.id < reach ? t.id : t.id - reach;
        const u32 number = t.template load<u32>((half + below) * 4);
        if (t.id >= reach) t.r.number += number;
        t.store(((half ^ kThreads) + t.id) * 4, t.r.number);
      });
    }
    block.sync();
    return half;
  }
  /// Writes elements of the rows that pass, and those of rows that none of them takes.
  template <class Thread> static LOCKSTEP_DEVICE void write(
      const Parameters& p, u32 b, u32 from, u32 end, u32 all, int places, Thread& t) {
    const u32 rows = end - from < kThreads ? end - from : kThreads;
    for (u32 k = static_cast<u32>(t.id); k < rows * p.columns.value(); k += kThreads) {
      const Divided column = divide(k, p.columns);
      const u32 row = from + column.quotient;
      i32* const y = p.y + b * p.ys[0] + column.rest * p.ys[2];
      const u32 place = t.template load<u32>((places + static_cast<int>(column.quotient)) * 4);
      if (place != kNowhere)
        t.put(
            y + place * p.ys[1], t.get(p.x + b * p.xs[0] + row * p.xs[1] + column.rest * p.xs[2]));
      if (row >= all) t.put(y + row * p.ys[1], -1);
    }
  }
};

/// Writes the chosen rows, and -1 behind them: a thread for each element.
struct WriteRows : ThreadByThread<WriteRows> {
  struct Parameters {
    u32 elements;
    Divisor rows, columns;
    i64 xs[3], ys[3];
    const i32 *x, *chosen, *count;
    i32* y;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.elements) return;
    const Divided column = divide(k, p.columns), row = divide(column.quotient, p.rows);
    const u32 b = row.quotient;
    i32 v = -1;
    if (static_cast<i32>(row.rest) < t.get(p.count + b)) {
      const i32 from = t.get(p.chosen + i64{b} * p.rows.value() + row.rest);
      v = t.get(p.x + b * p.xs[0] + from * p.xs[1] + column.rest * p.xs[2]);
    }
    t.put(p.y + b * p.ys[0] + row.rest * p.ys[1] + column.rest * p.ys[2], v);
  }
};

using DetectionKernels = KernelList<SortRows, CompareRows, KeepRows, SelectRows, WriteRows>;

}  // namespace lockstep::cuda
