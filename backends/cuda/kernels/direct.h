/// @file
/// Products of layers in one launch each: for calls that end before another launch would begin. No
/// shared memory is needed on the way to tensor cores, because weights lie in the order of their
/// registers and an image's channels are read as they lie, so the warps of a block take slices of
/// the depth, each at its own pace, and add their sums at the end.
#pragma once
#include "backends/cuda/kernels/epilogue.h"

namespace lockstep::cuda {

/// What products read: tensors whose channels lie anywhere, or as neighbours in fours, or cells.
enum class Source { any, in_order, cells };

/// The depth of a product in words, four channels of a tap each, taps one after the other. Each
/// lane takes neighbouring words of a step, of which two make a product of tensor cores.
struct Depth {
  u32 words, steps;
  u32 lane_words;
  i32 channels;  ///< of a group
  Divisor group_words, taps_wide;

  static constexpr u32 lane_words_of(Source s) { return s == Source::cells ? 4 : 2; }
  constexpr u32 word(u32 step, int lane) const {
    return (step * 4 + static_cast<u32>(lane) % 4) * lane_words;
  }
};

struct DirectParameters {
  const void* x;
  const Byte* weights;
  u32 row_tiles, column_tiles;  ///< with the groups, the number of blocks
  u32 rows, columns;            ///< of a group
  i32 height, width, padding[2];
  u32 xs[4], group;  ///< strides of X; from a group to the next: in elements, of cells in bytes
  Depth depth;
  Window window;
  bool is_by_channels;  ///< whether neighbouring channels of Y are neighbours in memory
  Epilogue out;
};

/// @tparam kI,kJ products of tensor cores, side by side, that make the part of a warp
/// @tparam kSlices warps that share the depth; the others lie side by side along the columns
template <int kI, int kJ, int kSlices, int kWarps, Source kSource> struct DirectProduct {
  using Parameters = DirectParameters;
  static constexpr int kThreads = kWarps * Fragment::kLanes, kOccupancy = 512 / kThreads;
  static constexpr bool kAwaits = true;
  static constexpr int kAcross = kWarps / kSlices;
  static constexpr int kRows = kI * Fragment::kRows, kWarpColumns = kJ * Fragment::kColumns;
  static constexpr int kColumns = kAcross * kWarpColumns;
  static constexpr int kProducts = Depth::lane_words_of(kSource) / 2;  ///< of a step
  static constexpr int kReads = kSource == Source::cells ? 1 : 2;      ///< of a column and step
  // A part in shared memory is columns of neighbouring rows or rows of neighbouring columns, so far
  // apart that a warp writes fragments, and reads neighbours, without waiting for a bank.
  static constexpr int kRowLine = kWarpColumns / 16 * 16 + 8, kColumnLine = kRows + 4;
  static constexpr int kPart = max(kRows * kRowLine, kWarpColumns* kColumnLine);
  static constexpr int kShared = kWarps * kPart * static_cast<int>(sizeof(i32));

  struct Registers {
    i32 sum[kI][kJ][4];
    u32 a[kProducts][kI][4], b[kProducts][kJ][2];
    Four next_a[kProducts][kI], next_b[kJ][kReads];
    u32 window[kJ];            ///< where that of a column begins, modulo 2^32
    i32 line[kJ], column[kJ];  ///< the same as a position
    const Byte* weights;
  };

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Work w = work_of(p, static_cast<u32>(block.number()));
    // Weights are constants, so they are on their way before the kernel ahead of this one has
    // ended.
    block.each([&](auto& t) {
      begin(p, w, t);
      fetch_weights(p, slice(t.id), t);
    });
    block.await();
    block.each([&](auto& t) { fetch_columns(p, slice(t.id), t); });
    for (u32 step = 0; step < p.depth.steps; step += kSlices) {
      block.each([&](auto& t) {
        take(t);
        const u32 next = step + kSlices + slice(t.id);
        fetch_weights(p, next, t);
        fetch_columns(p, next, t);
      });
      LOCKSTEP_UNROLL
      for (int m = 0; m < kProducts; ++m) {
        LOCKSTEP_UNROLL
        for (int i = 0; i < kI; ++i) {
          LOCKSTEP_UNROLL
          for (int j = 0; j < kJ; ++j)
            block.multiply([=](Registers& r) {
              return Product{r.sum[i][j], r.a[m][i], r.b[m][j]};
            });
        }
      }
    }
    block.each([&](auto& t) { share(p, t); });
    block.sync();
    block.each([&](auto& t) {
      p.is_by_channels ? store<4>(p, w, t) : store<1>(p, w, t);
      p.out.border.clear(static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id), t);
    });
  }

 private:
  struct Work {
    u32 row, column, group, tile;  ///< the first row and column; the tile of weights
  };
  static LOCKSTEP_DEVICE Work work_of(const Parameters& p, u32 block) {
    const u32 row = block % p.row_tiles, rest = block / p.row_tiles;
    const u32 group = rest / p.column_tiles;
    return {row * kRows, rest % p.column_tiles * kColumns, group, group * p.row_tiles + row};
  }
  static constexpr u32 slice(int id) { return static_cast<u32>(id / Fragment::kLanes / kAcross); }

  template <class Thread>
  static LOCKSTEP_DEVICE void begin(const Parameters& p, const Work& w, Thread& t) {
    LOCKSTEP_UNROLL
    for (int i = 0; i < kI; ++i) {
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        LOCKSTEP_UNROLL
        for (int k = 0; k < 4; ++k) t.r.sum[i][j][k] = 0;
      }
    }
    const int lane = t.id % Fragment::kLanes, across = t.id / Fragment::kLanes % kAcross;
    t.r.weights = p.weights + i64{w.tile} * p.depth.steps * kStepBytes +
        lane * static_cast<int>(sizeof(Four));
    const u32 last = p.columns - 1;
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j) {
      // Columns beyond the last one read what it reads; nothing stores their sums.
      const u32 column = w.column +
          static_cast<u32>(
              across * kWarpColumns + j * Fragment::kColumns + Fragment::b(lane, 0).column);
      const Position at = p.window.position(column < last ? column : last);
      t.r.line[j] = static_cast<i32>(at.line * p.window.stride[0]) - p.padding[0];
      t.r.column[j] = static_cast<i32>(at.column * p.window.stride[1]) - p.padding[1];
      t.r.window[j] = static_cast<u32>(at.image) * p.xs[0] + w.group * p.group +
          static_cast<u32>(t.r.line[j]) * p.xs[2] + static_cast<u32>(t.r.column[j]) * p.xs[3];
    }
  }

  /// Begins to read the weights of a step of the depth; beyond the last one there are zeros.
  static constexpr int kStepBytes = kProducts * kI * Fragment::kABytes;
  template <class Thread>
  static LOCKSTEP_DEVICE void fetch_weights(const Parameters& p, u32 step, Thread& t) {
    const bool is_step = step < p.depth.steps;
    const Byte* from = t.r.weights + i64{step} * kStepBytes;
    LOCKSTEP_UNROLL
    for (int m = 0; m < kProducts; ++m) {
      LOCKSTEP_UNROLL
      for (int i = 0; i < kI; ++i, from += Fragment::kABytes)
        t.r.next_a[m][i] = is_step ? t.get(reinterpret_cast<const Four*>(from)) : Four{};
    }
  }
  /// The same of the columns.
  template <class Thread>
  static LOCKSTEP_DEVICE void fetch_columns(const Parameters& p, u32 step, Thread& t) {
    LOCKSTEP_UNROLL
    for (int k = 0; k < kReads; ++k) {
      const u32 word = p.depth.word(step, t.id) + static_cast<u32>(k);
      const Divided at = divide(word, p.depth.group_words);
      const Divided tap = divide(at.quotient, p.depth.taps_wide);
      const i32 down = static_cast<i32>(tap.quotient * p.window.dilation[0]);
      const i32 right = static_cast<i32>(tap.rest * p.window.dilation[1]);
      const u32 ahead = at.rest * 4 * p.xs[1] + static_cast<u32>(down) * p.xs[2] +
          static_cast<u32>(right) * p.xs[3];
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        const i32 line = t.r.line[j] + down, column = t.r.column[j] + right;
        const bool is_there = word < p.depth.words &&
            (kSource == Source::cells ||
                (line >= 0 && line < p.height && column >= 0 && column < p.width));
        t.r.next_b[j][k] =
            is_there ? read(p, t.r.window[j] + ahead, static_cast<i32>(at.rest) * 4, t) : Four{};
      }
    }
  }
  /// Four words of cells, or four channels of a tensor with zeros beyond the last one.
  template <class Thread>
  static LOCKSTEP_DEVICE Four read(const Parameters& p, u32 offset, i32 channel, Thread& t) {
    if constexpr (kSource == Source::cells)
      return t.get(reinterpret_cast<const Four*>(static_cast<const Byte*>(p.x) + offset));
    const i32* from = static_cast<const i32*>(p.x) + offset;
    if constexpr (kSource == Source::in_order) return t.get(reinterpret_cast<const Four*>(from));
    Four four{};
    LOCKSTEP_UNROLL
    for (i32 c = 0; c < 4; ++c)
      if (channel + c < p.depth.channels) four.item[c] = t.get(from + i64{c} * p.xs[1]);
    return four;
  }
  /// Makes fragments of what was read.
  template <class Thread> static LOCKSTEP_DEVICE void take(Thread& t) {
    LOCKSTEP_UNROLL
    for (int m = 0; m < kProducts; ++m) {
      LOCKSTEP_UNROLL
      for (int i = 0; i < kI; ++i) {
        LOCKSTEP_UNROLL
        for (int k = 0; k < 4; ++k) t.r.a[m][i][k] = static_cast<u32>(t.r.next_a[m][i].item[k]);
      }
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        LOCKSTEP_UNROLL
        for (int half = 0; half < 2; ++half) t.r.b[m][j][half] = word(t.r.next_b[j], m * 2 + half);
      }
    }
  }
  /// Word k of those that a lane has read.
  static LOCKSTEP_DEVICE u32 word(const Four (&read)[kReads], int k) {
    if constexpr (kSource == Source::cells) return static_cast<u32>(read[0].item[k]);
    const Four& v = read[k % kReads];
    return narrowed(v.item[0], v.item[1], v.item[2], v.item[3]);
  }

  /// Where a sum of a warp's part lies in shared memory.
  static LOCKSTEP_DEVICE int place(const Parameters& p, int warp, int row, int column) {
    const int at =
        p.is_by_channels ? column * kColumnLine + row : row * kRowLine + (column ^ row / 4 % 2);
    return (warp * kPart + at) * static_cast<int>(sizeof(i32));
  }
  template <class Thread> static LOCKSTEP_DEVICE void share(const Parameters& p, Thread& t) {
    const int lane = t.id % Fragment::kLanes, warp = t.id / Fragment::kLanes;
    LOCKSTEP_UNROLL
    for (int i = 0; i < kI; ++i) {
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        LOCKSTEP_UNROLL
        for (int k = 0; k < 4; ++k) {
          const Place at = Fragment::c(lane, k);
          t.store(place(p, warp, i * Fragment::kRows + at.row, j * Fragment::kColumns + at.column),
              t.r.sum[i][j][k]);
        }
      }
    }
  }
  /// Eight lanes read one column, or half of two that lie sixteen banks apart.
  static constexpr int apart(int k) {
    return kRows == 2 * Fragment::kRows ? k : k / 8 * 8 + k % 2 * 4 + k % 8 / 2;
  }
  /// Adds the slices of sums and stores them, kNear neighbouring channels at a time.
  template <int kNear, class Thread>
  static LOCKSTEP_DEVICE void store(const Parameters& p, const Work& w, Thread& t) {
    constexpr int kUnits = kRows / kNear;
    const u32 end = (w.group + 1) * p.rows;
    for (int k = t.id; k < kUnits * kColumns; k += kThreads) {
      const int row = kNear > 1 ? k % kUnits * kNear : k / kColumns;
      const int column = kNear > 1 ? apart(k / kUnits) : k % kColumns;
      const u32 channel = w.group * p.rows + w.row + static_cast<u32>(row);
      if (channel >= end || w.column + static_cast<u32>(column) >= p.columns) continue;
      const Position at = p.window.position(w.column + static_cast<u32>(column));
      Epilogue::Words<kNear> words{};
      p.out.template fetch<kNear>(at, channel, end, words, t);
      i32 v[kNear];
      p.out.begin(channel, end, v, t);
      LOCKSTEP_UNROLL
      for (int s = 0; s < kSlices; ++s) {
        const int warp = s * kAcross + column / kWarpColumns;
        add_shared(v, place(p, warp, row, column % kWarpColumns), t);
      }
      p.out.store(at, channel, end, v, words, t);
    }
  }
  template <class Thread>
  static LOCKSTEP_DEVICE void add_shared(i32 (&v)[1], int offset, Thread& t) {
    v[0] = add(v[0], t.template load<i32>(offset));
  }
  template <class Thread>
  static LOCKSTEP_DEVICE void add_shared(i32 (&v)[4], int offset, Thread& t) {
    const Four four = t.template load<Four>(offset);
    LOCKSTEP_UNROLL
    for (int k = 0; k < 4; ++k) v[k] = add(v[k], four.item[k]);
  }
};

/// Packs weights as DirectProduct reads them: for each step of a tile its fragments, for each of
/// them what each lane keeps.
struct PackFragments {
  struct Parameters {
    const i32* w;
    Byte* weights;
    u32 threads;
    Divisor products, row_tiles;  ///< that make the rows of a tile; tiles of a group
    u32 rows;                     ///< of a group
    Depth depth;
    Divisor step_products, steps;
    i64 ws[4];  ///< strides of W
  };
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      const u32 k = static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id);
      if (k < p.threads) pack(p, k, t);
    });
  }

 private:
  template <class Thread> static LOCKSTEP_DEVICE void pack(const Parameters& p, u32 k, Thread& t) {
    const int lane = static_cast<int>(k % Fragment::kLanes);
    const Divided i = divide(k / Fragment::kLanes, p.products);
    const Divided m = divide(i.quotient, p.step_products), step = divide(m.quotient, p.steps);
    const Divided tile = divide(step.quotient, p.row_tiles);
    Four words{};
    LOCKSTEP_UNROLL
    for (int r = 0; r < 4; ++r) {
      const u32 row = (tile.rest * p.products.value() + i.rest) * Fragment::kRows +
          static_cast<u32>(Fragment::a(lane, r).row);
      const u32 word = p.depth.word(step.rest, lane) + m.rest * 2 + static_cast<u32>(r / 2);
      if (row < p.rows && word < p.depth.words)
        words.item[r] = static_cast<i32>(packed(p, tile.quotient * p.rows + row, word, t));
    }
    t.put(reinterpret_cast<Four*>(p.weights + i64{k} * static_cast<i64>(sizeof(Four))), words);
  }
  template <class Thread>
  static LOCKSTEP_DEVICE u32 packed(const Parameters& p, u32 row, u32 word, Thread& t) {
    const Divided at = divide(word, p.depth.group_words);
    const Divided tap = divide(at.quotient, p.depth.taps_wide);
    const i32* from = p.w + row * p.ws[0] + tap.quotient * p.ws[2] + tap.rest * p.ws[3];
    i32 v[4];
    LOCKSTEP_UNROLL
    for (int c = 0; c < 4; ++c) {
      const i32 channel = static_cast<i32>(at.rest) * 4 + c;
      v[c] = channel < p.depth.channels ? t.get(from + channel * p.ws[1]) : 0;
    }
    return narrowed(v[0], v[1], v[2], v[3]);
  }
};

/// The parts of warps: wide ones, for most calls; of half the rows but twice the warps, where there
/// are few tiles; thin ones, for few columns; side by side, where there is hardly any depth.
template <Source kSource> using DirectWide = DirectProduct<2, 4, 8, 8, kSource>;
template <Source kSource> using DirectDeep = DirectProduct<1, 4, 16, 16, kSource>;
template <Source kSource> using DirectThin = DirectProduct<2, 1, 16, 16, kSource>;
template <Source kSource> using DirectFlat = DirectProduct<2, 4, 1, 8, kSource>;

using DirectKernels = KernelList<DirectWide<Source::any>, DirectWide<Source::in_order>,
    DirectWide<Source::cells>, DirectDeep<Source::any>, DirectDeep<Source::in_order>,
    DirectDeep<Source::cells>, DirectThin<Source::any>, DirectThin<Source::in_order>,
    DirectThin<Source::cells>, DirectFlat<Source::any>, DirectFlat<Source::in_order>,
    DirectFlat<Source::cells>, PackFragments>;

}  // namespace lockstep::cuda
