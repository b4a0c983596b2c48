/// @file
/// non_max_suppression and get_valid_counts: rows of boxes are chosen, then written. Sorting counts
/// for each row those before it, which is stable and needs no order of threads; suppression
/// compares all pairs at once and then walks through the rows, 32 at a time.
#pragma once
#include "backends/cuda/kernels/kernel.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/non_max_suppression.h"

namespace lockstep::cuda {

inline constexpr u32 kWordRows = 32;  ///< rows of a word of bits
inline constexpr int kBoxWords = NonMaxSuppression::kColumns;

struct DetectionParameters {
  NonMaxSuppressionAttrs attrs;
  u32 batches, rows, words;  ///< words of the bits of all rows
  Divisor per_batch, per_row;
  i64 xs[3], valid_stride;
  const i32 *x, *valid;
  i32* sorted;  ///< (B, n, 6)
  u32* rivals;  ///< (B, n, words): the later rows that a row suppresses
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

/// Puts the valid rows in descending order of scores, equal ones in their own: a thread for each.
struct SortRows {
  using Parameters = DetectionParameters;
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      const u32 k = static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id);
      if (k >= p.batches * p.rows) return;
      const Divided at = divide(k, p.per_batch);
      const u32 b = at.quotient, row = at.rest;
      const u32 valid = p.valid_rows(t.get(p.valid + b * p.valid_stride));
      if (row >= valid) return;
      const i32* x = p.x + b * p.xs[0];
      const auto score = [&](u32 r) {
        return t.get(x + r * p.xs[1] + NonMaxSuppression::kScore * p.xs[2]);
      };
      const i32 own = score(row);
      u32 place = 0;
      for (u32 r = 0; r < row; ++r) place += score(r) >= own ? 1 : 0;
      for (u32 r = row + 1; r < valid; ++r) place += score(r) > own ? 1 : 0;
      for (int c = 0; c < kBoxWords; ++c)
        t.put(p.sorted + (i64{b} * p.rows + place) * kBoxWords + c,
            t.get(x + row * p.xs[1] + c * p.xs[2]));
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
      if (k >= i64{p.batches} * p.rows * p.words) return;
      const u32 word = static_cast<u32>(k % p.words), row = static_cast<u32>(k / p.words % p.rows);
      const u32 b = static_cast<u32>(k / p.words / p.rows);
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
/// for each row that is out.
struct KeepRows {
  using Parameters = DetectionParameters;
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 8 << 10, kOccupancy = 4;
  static constexpr u32 kWordsMax = kShared / 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const u32 b = static_cast<u32>(block.number());
    const u32 valid = p.valid_rows(block.get(p.valid + b * p.valid_stride));
    const u32 read = p.read(valid), most = p.most(valid);
    const i32* ids = p.sorted + i64{b} * p.rows * kBoxWords + NonMaxSuppression::kId;
    const u32* rivals = p.rivals + i64{b} * p.rows * p.words;
    block.each([&](auto& t) {
      for (u32 w = static_cast<u32>(t.id); w < p.words; w += kThreads)
        t.store(static_cast<int>(w) * 4, u32{0});
    });
    u32 kept = 0;
    for (u32 word = 0; word * kWordRows < read && kept < most; ++word) {
      block.sync();
      u32 out = block.template load<u32>(static_cast<int>(word) * 4), now = 0;
      const u32 before = kept, first = word * kWordRows;
      for (u32 j = 0; j < kWordRows && first + j < read && kept < most; ++j) {
        if ((out >> j & 1) != 0 || block.get(ids + i64{first + j} * kBoxWords) < 0) continue;
        out |= block.get(rivals + i64{first + j} * p.words + word);
        now |= u32{1} << j;
        ++kept;
      }
      block.each([&](auto& t) {
        u32 number = before;
        for (u32 j = 0; j < kWordRows; ++j) {
          if ((now >> j & 1) == 0) continue;
          if (static_cast<u32>(t.id) == j)
            t.put(p.chosen + i64{b} * p.rows + number, static_cast<i32>(first + j));
          ++number;
        }
        for (u32 w = word + 1 + static_cast<u32>(t.id); w < p.words; w += kThreads) {
          u32 bits = 0;
          for (u32 j = 0; j < kWordRows; ++j)
            if ((now >> j & 1) != 0) bits |= t.get(rivals + i64{first + j} * p.words + w);
          if (bits != 0)
            t.store(static_cast<int>(w) * 4, t.template load<u32>(static_cast<int>(w) * 4) | bits);
        }
      });
    }
    block.each([&](auto& t) {
      if (t.id == 0) t.put(p.count + b, static_cast<i32>(kept));
    });
  }
};

/// Chooses the rows whose score is above a threshold, in their order: a block for each batch, which
/// counts 256 rows at a time.
struct CountRows {
  struct Parameters {
    i64 threshold;
    u32 rows;
    i64 xs[3], count_stride;
    const i32* x;
    i32 *chosen, *count, *y_count;
  };
  static constexpr int kThreads = 256, kShared = 2 * kThreads * 4, kOccupancy = 4;
  struct Registers {
    u32 passed;  ///< whether the thread's row has passed
    u32 number;  ///< of the rows up to its own that have
  };

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const u32 b = static_cast<u32>(block.number());
    u32 before = 0;
    for (u32 first = 0; first < p.rows; first += kThreads) {
      block.sync();
      block.each([&](auto& t) {
        const u32 row = first + static_cast<u32>(t.id);
        constexpr i64 kScore = 1;
        t.r.passed = row < p.rows &&
            t.get(p.x + b * p.xs[0] + row * p.xs[1] + kScore * p.xs[2]) > p.threshold;
        t.r.number = t.r.passed;
        t.store(t.id * 4, t.r.number);
      });
      // Sums over twice as many rows in each round, from one half of the memory to the other.
      int from = 0;
      for (int reach = 1; reach < kThreads; reach *= 2, from ^= kThreads) {
        block.sync();
        block.each([&](auto& t) {
          const int below = t.id < reach ? t.id : t.id - reach;
          const u32 number = t.template load<u32>((from + below) * 4);
          if (t.id >= reach) t.r.number += number;
          t.store(((from ^ kThreads) + t.id) * 4, t.r.number);
        });
      }
      block.sync();
      block.each([&](auto& t) {
        if (t.r.passed != 0)
          t.put(
              p.chosen + i64{b} * p.rows + before + t.r.number - 1, static_cast<i32>(first) + t.id);
      });
      before += block.template load<u32>((from + kThreads - 1) * 4);
    }
    block.each([&](auto& t) {
      if (t.id != 0) return;
      t.put(p.count + b, static_cast<i32>(before));
      t.put(p.y_count + b * p.count_stride, static_cast<i32>(before));
    });
  }
};

/// Writes the chosen rows, and -1 behind them: a thread for each element.
struct WriteRows {
  struct Parameters {
    u32 elements;
    Divisor rows, columns;
    i64 xs[3], ys[3];
    const i32 *x, *chosen, *count;
    i32* y;
  };
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      const u32 k = static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id);
      if (k >= p.elements) return;
      const Divided column = divide(k, p.columns), row = divide(column.quotient, p.rows);
      const u32 b = row.quotient;
      i32 v = -1;
      if (static_cast<i32>(row.rest) < t.get(p.count + b)) {
        const i32 from = t.get(p.chosen + i64{b} * p.rows.value() + row.rest);
        v = t.get(p.x + b * p.xs[0] + from * p.xs[1] + column.rest * p.xs[2]);
      }
      t.put(p.y + b * p.ys[0] + row.rest * p.ys[1] + column.rest * p.ys[2], v);
    });
  }
};

using DetectionKernels = KernelList<SortRows, CompareRows, KeepRows, CountRows, WriteRows>;

}  // namespace lockstep::cuda
