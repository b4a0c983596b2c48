/// @file
/// Products of layers in one launch each, for calls that are small enough to end before another
/// launch would begin. Weights lie in the order of the registers of tensor cores, and images are
/// read as they lie, so the warps of a block need not wait for each other: they take slices of the
/// depth, each at its own pace, and add their sums at the end.
#pragma once
#include "backends/cuda/kernels/columns.h"

namespace lockstep::cuda {

/// @tparam kI,kJ products of tensor cores, side by side, that make the part of a warp
/// @tparam kSlices warps that share the depth; the others lie side by side along the columns
/// @tparam Columns AnyColumns, NearColumns or CellColumns
template <int kI, int kJ, int kSlices, int kWarps, template <int> class Columns>
struct DirectProduct {
  using Parameters = DirectParameters;
  using Source = Columns<kJ>;
  static constexpr int kThreads = kWarps * Fragment::kLanes, kOccupancy = 512 / kThreads;
  static constexpr bool kAwaits = true;
  static constexpr int kSlicesOf = kSlices, kAcross = kWarps / kSlices;
  static constexpr int kRows = kI * Fragment::kRows, kWarpColumns = kJ * Fragment::kColumns;
  static constexpr int kColumns = kAcross * kWarpColumns;
  static constexpr int kProducts = Source::kProducts;  ///< of a step
  // A part in shared memory is columns of neighbouring rows or rows of neighbouring columns, so far
  // apart that a warp writes fragments, and reads neighbours, without waiting for a bank.
  static constexpr int kRowLine = kWarpColumns / 16 * 16 + 8, kColumnLine = kRows + 4;
  static constexpr int kOfRows = kRows * kRowLine, kOfColumns = kWarpColumns * kColumnLine;
  static constexpr int kPart = kOfRows > kOfColumns ? kOfRows : kOfColumns;
  static constexpr int kShared = kWarps * kPart * static_cast<int>(sizeof(i32));

  struct Registers {
    i32 sum[kI][kJ][4];
    u32 a[kProducts][kI][4], b[kProducts][kJ][2];
    Four next[kProducts][kI];  ///< weights
    typename Source::Registers columns;
    const Byte* weights;
  };

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Work w = work_of(p, static_cast<u32>(block.number()));
    // Weights are constants, so reading them begins before the kernel ahead of this one has ended.
    block.each([&](auto& t) {
      begin(p, w, t);
      fetch_weights(p, slice(t.id), t);
    });
    block.await();
    block.each([&](auto& t) { Source::fetch(p, slice(t.id), t); });
    for (u32 step = 0; step < p.depth.steps; step += kSlices) {
      take(p, step + kSlices, block);
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
      store(p, w, t);
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
        i64{lane} * static_cast<i64>(sizeof(Four));
    Source::begin(p, w.group, w.column + static_cast<u32>(across * kWarpColumns), t);
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
        t.r.next[m][i] = is_step ? t.get(reinterpret_cast<const Four*>(from)) : Four{};
    }
  }
  /// Makes fragments of what was read, and begins to read more.
  template <class Block>
  static LOCKSTEP_DEVICE void take(const Parameters& p, u32 next, Block& block) {
    block.each([&](auto& t) {
      LOCKSTEP_UNROLL
      for (int m = 0; m < kProducts; ++m) {
        LOCKSTEP_UNROLL
        for (int i = 0; i < kI; ++i) {
          LOCKSTEP_UNROLL
          for (int k = 0; k < 4; ++k) t.r.a[m][i][k] = static_cast<u32>(t.r.next[m][i].item[k]);
        }
      }
      if constexpr (Source::kIsShared)
        Source::share(stage(t.id), t);
      else
        Source::take(0, t.r.b, t);
      fetch_weights(p, next + slice(t.id), t);
      Source::fetch(p, next + slice(t.id), t);
    });
    if constexpr (Source::kIsShared) {
      block.sync_warps();
      block.each([](auto& t) { Source::take(stage(t.id), t.r.b, t); });
      block.sync_warps();
    }
  }
  /// Where a warp's columns lie in shared memory before its sums do.
  static constexpr int stage(int id) {
    return id / Fragment::kLanes * kPart * static_cast<int>(sizeof(i32));
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
  /// Adds the slices of sums and stores them: a column of several channels in each thread, or four
  /// channels of several columns.
  template <class Thread>
  static LOCKSTEP_DEVICE void store(const Parameters& p, const Work& w, Thread& t) {
    if (!p.is_by_channels) {
      const int column = t.id % kColumns;
      if (w.column + static_cast<u32>(column) >= p.columns) return;
      const Position at = p.window.position(w.column + static_cast<u32>(column));
      for (int row = t.id / kColumns; row < kRows; row += kThreads / kColumns)
        store<1>(p, w, at, row, column, t);
      return;
    }
    constexpr int kUnits = kRows / 4;
    for (int k = t.id / kUnits; k < kColumns; k += kThreads / kUnits) {
      const int column = apart(k);
      if (w.column + static_cast<u32>(column) >= p.columns) continue;
      const Position at = p.window.position(w.column + static_cast<u32>(column));
      store<4>(p, w, at, t.id % kUnits * 4, column, t);
    }
  }
  /// Eight lanes read one column, or two of half the height that lie sixteen banks apart.
  static constexpr int apart(int k) {
    return kRows == 2 * Fragment::kRows ? k : k / 8 * 8 + k % 2 * 4 + k % 8 / 2;
  }
  template <int kNear, class Thread> static LOCKSTEP_DEVICE void store(
      const Parameters& p, const Work& w, const Position& at, int row, int column, Thread& t) {
    const u32 end = (w.group + 1) * p.rows;
    const u32 channel = w.group * p.rows + w.row + static_cast<u32>(row);
    if (channel >= end) return;
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
struct PackFragments : ThreadByThread<PackFragments> {
  struct Parameters {
    Weights w;
    Byte* weights;
    u32 threads;
    Divisor products, row_tiles;  ///< that make the rows of a tile; tiles of a group
    u32 rows;                     ///< of a group
    Depth depth;
    Divisor steps;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.threads) return;
    const int lane = static_cast<int>(k % Fragment::kLanes);
    const Divided i = divide(k / Fragment::kLanes, p.products);
    const u32 m = i.quotient % p.depth.products;
    const Divided step = divide(i.quotient / p.depth.products, p.steps);
    const Divided tile = divide(step.quotient, p.row_tiles);
    Four words{};
    LOCKSTEP_UNROLL
    for (int r = 0; r < 4; ++r) {
      const u32 row = (tile.rest * p.products.value() + i.rest) * Fragment::kRows +
          static_cast<u32>(Fragment::a(lane, r).row);
      const u32 word = p.depth.word(step.rest, m, static_cast<u32>(r / 2), lane);
      if (row < p.rows && word < p.depth.words)
        words.item[r] = static_cast<i32>(p.w.word(i64{tile.quotient} * p.rows + row, word, t));
    }
    t.put(reinterpret_cast<Four*>(p.weights + i64{k} * static_cast<i64>(sizeof(Four))), words);
  }
};

/// Wide parts of warps, of which eight, four, two or one share the depth; parts of half the rows,
/// of which sixteen do; thin ones for few columns.
template <template <int> class Columns> using DirectWide8 = DirectProduct<2, 4, 8, 8, Columns>;
template <template <int> class Columns> using DirectWide4 = DirectProduct<2, 4, 4, 8, Columns>;
template <template <int> class Columns> using DirectWide2 = DirectProduct<2, 4, 2, 8, Columns>;
template <template <int> class Columns> using DirectWide1 = DirectProduct<2, 4, 1, 8, Columns>;
template <template <int> class Columns> using DirectDeep = DirectProduct<1, 4, 16, 16, Columns>;
template <template <int> class Columns> using DirectThin = DirectProduct<2, 1, 16, 16, Columns>;

using DirectKernels =
    KernelList<DirectWide8<AnyColumns>, DirectWide8<NearColumns>, DirectWide8<CellColumns>,
        DirectWide4<AnyColumns>, DirectWide4<NearColumns>, DirectWide4<CellColumns>,
        DirectWide2<AnyColumns>, DirectWide2<NearColumns>, DirectWide2<CellColumns>,
        DirectWide1<AnyColumns>, DirectWide1<NearColumns>, DirectWide1<CellColumns>,
        DirectDeep<AnyColumns>, DirectDeep<NearColumns>, DirectDeep<CellColumns>,
        DirectThin<AnyColumns>, DirectThin<NearColumns>, DirectThin<CellColumns>, PackFragments>;

}  // namespace lockstep::cuda
