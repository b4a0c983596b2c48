/// @file
/// Matrix products of bytes on tensor cores, exact in 32 bits. Rows are outputs of a layer, columns
/// positions of images or rows of a matrix. Both factors lie packed (cells.h): weights as panels,
/// images as cells, of which each tap of a kernel is a constant offset away from the position, so
/// that a convolution is the product of a matrix that never exists.
#pragma once
#include "backends/cuda/kernels/epilogue.h"

namespace lockstep::cuda {

/// A tile of the output: a block's rows and columns, how many warps share them, and how many panels
/// of the depth are on their way at a time.
template <int kRowsOf, int kColumnsOf, int kWarpRowsOf, int kWarpColumnsOf, int kStagesOf,
    int kOccupancyOf>
struct Tile {
  static constexpr int kRows = kRowsOf, kColumns = kColumnsOf, kStages = kStagesOf;
  static constexpr int kOccupancy = kOccupancyOf;
  static constexpr int kWarpRows = kWarpRowsOf, kWarpColumns = kWarpColumnsOf;  ///< of each warp
  static constexpr int kThreads = kRows / kWarpRows * (kColumns / kWarpColumns) * Fragment::kLanes;
  static constexpr int kStageBytes = (kRows + kColumns) * Panel::kDepth;
  static constexpr int kShared = kStages * kStageBytes;

  /// Where a warp's part begins.
  static constexpr Place part(int warp) {
    constexpr int kAcross = kColumns / kWarpColumns;
    return {warp / kAcross * kWarpRows, warp % kAcross * kWarpColumns};
  }
  static_assert(kWarpRows % Fragment::kRows == 0 && kWarpColumns % (2 * Fragment::kColumns) == 0);
};
using LargeTile = Tile<128, 128, 64, 32, 3, 2>;
using SmallTile = Tile<64, 64, 32, 32, 4, 2>;
using ThinTile = Tile<64, 16, 16, 16, 6, 4>;  ///< for few columns, where mostly weights are read

struct ProductParameters {
  const Byte *weights, *cells;
  u32 row_tiles, column_tiles, groups, splits;  ///< whose product is the number of blocks
  u32 rows, columns;                            ///< of a group
  u32 panels;                                   ///< of the depth
  u32 images;  ///< of Y; each part of the depth has as many of its own
  Cells layout;
  Window window;
  Epilogue out;
};

/// The part of the product that a block computes.
struct Work {
  u32 row_tile, column_tile, group, split, first, last;
};
LOCKSTEP_DEVICE constexpr Work work_of(const ProductParameters& p, u32 block) {
  Work w{};
  w.row_tile = block % p.row_tiles;
  block /= p.row_tiles;
  w.column_tile = block % p.column_tiles;
  block /= p.column_tiles;
  w.group = block % p.groups;
  w.split = block / p.groups;
  w.first = p.panels * w.split / p.splits;
  w.last = p.panels * (w.split + 1) / p.splits;
  return w;
}

/// @tparam kGrain bytes of neighbouring channels that lie in order: 16, or 4 for few channels
template <class T, int kGrain> struct MatrixProduct {
  using Parameters = ProductParameters;
  static constexpr int kThreads = T::kThreads, kShared = T::kShared, kOccupancy = T::kOccupancy;
  static constexpr int kUnits = Panel::kDepth / kGrain;  ///< copied for a column of a panel
  static constexpr int kStep = kThreads / kUnits;        ///< columns that threads copy at once
  static constexpr int kLoads = (T::kColumns + kStep - 1) / kStep;
  static constexpr int kWeightLoads = T::kRows * Panel::kChunks / kThreads;
  static constexpr int kI = T::kWarpRows / Fragment::kRows;
  static constexpr int kJ = T::kWarpColumns / Fragment::kColumns;

  struct Registers {
    i32 sum[kI][kJ][4];
    u32 a[kI][4], b[kJ][2];
    u32 column[kLoads];  ///< where its cells begin, in less than 2^31 bytes
    const Byte* weights;
  };

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Work w = work_of(p, static_cast<u32>(block.number()));
    block.each([&](auto& t) {
      begin(p, w, t);
      for (int stage = 0; stage + 1 < T::kStages; ++stage)
        load(p, w, w.first + static_cast<u32>(stage), t);
    });
    for (u32 k = w.first; k < w.last; ++k) {
      block.each([](auto& t) { t.template wait<T::kStages - 2>(); });
      block.sync();
      block.each([&](auto& t) { load(p, w, k + T::kStages - 1, t); });
      const int stage = static_cast<int>((k - w.first) % T::kStages) * T::kStageBytes;
      LOCKSTEP_UNROLL
      for (int step = 0; step < Panel::kDepth / Fragment::kDepth; ++step) {
        block.each([&](auto& t) { read_fragments(stage, step, t); });
        LOCKSTEP_UNROLL
        for (int i = 0; i < kI; ++i) {
          LOCKSTEP_UNROLL
          for (int j = 0; j < kJ; ++j)
            block.multiply([=](Registers& r) { return Product{r.sum[i][j], r.a[i], r.b[j]}; });
        }
      }
    }
    block.each([&](auto& t) {
      store(p, w, t);
      p.out.border.clear(static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id), t);
    });
  }

 private:
  template <class Thread>
  static LOCKSTEP_DEVICE void begin(const Parameters& p, const Work& w, Thread& t) {
    i32 first[2 * kI];
    p.out.begin(channel_of(p, w, t.id), (w.group + 1) * p.rows, first, t);
    LOCKSTEP_UNROLL
    for (int i = 0; i < kI; ++i) {
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        LOCKSTEP_UNROLL
        for (int k = 0; k < 4; ++k) t.r.sum[i][j][k] = first[2 * i + k / 2];
      }
    }
    const i64 tile = i64{w.group} * p.row_tiles + w.row_tile;
    t.r.weights = p.weights + tile * p.panels * (T::kRows * Panel::kDepth) + t.id * Panel::kChunk;
    const u32 last = p.columns - 1;
    LOCKSTEP_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      // Columns beyond the last one read its cells; nothing stores their sums.
      const u32 column = w.column_tile * T::kColumns + static_cast<u32>(t.id / kUnits + i * kStep);
      t.r.column[i] = static_cast<u32>(p.layout.position(p.window, column < last ? column : last) +
          w.group * p.layout.group_bytes());
    }
  }

  /// Begins to load a panel of the depth. Beyond the last one the group of copies is empty.
  template <class Thread>
  static LOCKSTEP_DEVICE void load(const Parameters& p, const Work& w, u32 panel, Thread& t) {
    if (panel < w.last) {
      const int stage = static_cast<int>((panel - w.first) % T::kStages) * T::kStageBytes;
      const Byte* from = t.r.weights + i64{panel} * (T::kRows * Panel::kDepth);
      LOCKSTEP_UNROLL
      for (int i = 0; i < kWeightLoads; ++i) {
        const int at = i * kThreads * Panel::kChunk;
        t.template copy<16>(stage + at + t.id * Panel::kChunk, from + at);
      }
      const int unit = t.id % kUnits, byte = unit * kGrain;
      const u32 word = (panel * Panel::kDepth + static_cast<u32>(byte)) / 4;
      // Weights beyond the depth are zero, whatever they are multiplied by.
      const u32 tap = word < p.layout.words() ? static_cast<u32>(p.layout.tap(p.window, word)) : 0;
      LOCKSTEP_UNROLL
      for (int i = 0; i < kLoads; ++i) {
        const int column = t.id / kUnits + i * kStep;
        if (T::kColumns % kStep != 0 && column >= T::kColumns) break;
        const int to = Panel::offset(column, byte / Panel::kChunk) + byte % Panel::kChunk;
        t.template copy<kGrain>(
            stage + T::kRows * Panel::kDepth + to, p.cells + (t.r.column[i] + tap));
      }
    }
    t.commit();
  }

  template <class Thread>
  static LOCKSTEP_DEVICE void read_fragments(int stage, int step, Thread& t) {
    const Place part = T::part(t.id / Fragment::kLanes);
    LOCKSTEP_UNROLL
    for (int i = 0; i < kI; ++i)
      t.load_matrices(t.r.a[i], [&](int row) {
        const int matrix = row / 8;
        return stage +
            Panel::offset(
                part.row + i * Fragment::kRows + matrix % 2 * 8 + row % 8, step * 2 + matrix / 2);
      });
    const int columns = stage + T::kRows * Panel::kDepth;
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; j += 2) {
      u32 two[4];
      t.load_matrices(two, [&](int row) {
        const int matrix = row / 8;
        return columns +
            Panel::offset(part.column + (j + matrix / 2) * Fragment::kColumns + row % 8,
                step * 2 + matrix % 2);
      });
      LOCKSTEP_UNROLL
      for (int k = 0; k < 4; ++k) t.r.b[j + k / 2][k % 2] = two[k];
    }
  }

  /// The first channel of those whose sums a thread holds.
  static LOCKSTEP_DEVICE u32 channel_of(const Parameters& p, const Work& w, int id) {
    const int row =
        T::part(id / Fragment::kLanes).row + Fragment::c(id % Fragment::kLanes, 0).row * 2 * kI;
    return w.group * p.rows + w.row_tile * T::kRows + static_cast<u32>(row);
  }
  /// Calls f(j, half, position) for all columns of a thread's sums.
  template <class F>
  static LOCKSTEP_DEVICE void each_column(const Parameters& p, const Work& w, int id, const F& f) {
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j) {
      LOCKSTEP_UNROLL
      for (int half = 0; half < 2; ++half) {
        const u32 column = w.column_tile * T::kColumns +
            static_cast<u32>(T::part(id / Fragment::kLanes).column + j * Fragment::kColumns +
                Fragment::c(id % Fragment::kLanes, half).column);
        if (column >= p.columns) continue;
        Position at = p.window.position(column);
        at.image += i64{w.split} * p.images;
        f(j, half, at);
      }
    }
  }

  template <class Thread>
  static LOCKSTEP_DEVICE void store(const Parameters& p, const Work& w, Thread& t) {
    const u32 channel = channel_of(p, w, t.id), end = (w.group + 1) * p.rows;
    Epilogue::Words<2 * kI> words[kJ][2]{};
    each_column(p, w, t.id, [&](int j, int half, const Position& at) {
      p.out.template fetch<2 * kI>(at, channel, end, words[j][half], t);
    });
    each_column(p, w, t.id, [&](int j, int half, const Position& at) {
      i32 v[2 * kI];
      LOCKSTEP_UNROLL
      for (int i = 0; i < 2 * kI; ++i) v[i] = t.r.sum[i / 2][j][i % 2 * 2 + half];
      p.out.store(at, channel, end, v, words[j][half], t);
    });
  }
};

/// Adds the parts of the depth that blocks have computed apart, in their order: a thread for each
/// output, or for four neighbouring channels of cells.
struct SumOfSplits : ThreadByThread<SumOfSplits> {
  struct Parameters {
    const i32* parts;
    u32 threads, splits, channels;
    i64 outputs;                      ///< of a part
    Divisor positions, steps, width;  ///< of an image; groups of channels; of a line
    Epilogue out;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k < p.threads) p.out.y.is_packed ? sum<4>(p, k, t) : sum<1>(p, k, t);
    p.out.border.clear(k, t);
  }

 private:
  template <int kRows, class Thread>
  static LOCKSTEP_DEVICE void sum(const Parameters& p, u32 k, Thread& t) {
    const Divided at = divide(k, p.positions), step = divide(at.quotient, p.steps);
    const Divided line = divide(at.rest, p.width);
    const u32 first = step.rest * kRows;
    const Position position{step.quotient, line.quotient, line.rest};
    Epilogue::Words<kRows> words{};
    p.out.template fetch<kRows>(position, first, p.channels, words, t);
    i32 v[kRows];
    p.out.begin(first, p.channels, v, t);
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r) {
      if (first + r >= p.channels) break;
      const i64 row = i64{step.quotient} * p.channels + first + r;
      const i32* from = p.parts + row * p.positions.value() + at.rest;
      for (u32 s = 0; s < p.splits; ++s) v[r] = add(v[r], t.get(from + s * p.outputs));
    }
    p.out.store(position, first, p.channels, v, words, t);
  }
};

/// Convolutions of groups of few channels, on images as they are or as cells: a thread for each
/// output, or for four neighbouring channels of cells.
template <class Value> struct SmallGroups : ThreadByThread<SmallGroups<Value>> {
  struct Parameters {
    const Value* x;
    const i32* w;
    u32 threads, channels;  ///< channels of Y
    Divisor extent[3];      ///< of Y in groups of channels, the fastest first: width, height and
                            ///< channels, or channels, width and height
    Divisor group;          ///< outputs of a group
    i32 inputs, taps_high, taps_wide;
    i32 lines, columns;  ///< of X
    i32 stride[2], padding[2], dilation[2];
    i64 xs[4], ws[4];  ///< strides
    Epilogue out;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k < p.threads) outputs(p, k, t);
    p.out.border.clear(k, t);
  }

 private:
  template <class Thread>
  static LOCKSTEP_DEVICE void outputs(const Parameters& p, u32 k, Thread& t) {
    const Divided a = divide(k, p.extent[0]), b = divide(a.quotient, p.extent[1]);
    const Divided c = divide(b.quotient, p.extent[2]);
    if (p.out.y.is_packed)
      output<4>(p, {c.quotient, c.rest, b.rest}, a.rest * 4, t);
    else
      output<1>(p, {c.quotient, b.rest, a.rest}, c.rest, t);
  }
  template <int kRows, class Thread> static LOCKSTEP_DEVICE void output(
      const Parameters& p, const Position& at, u32 first, Thread& t) {
    Epilogue::Words<kRows> words{};
    p.out.template fetch<kRows>(at, first, p.channels, words, t);
    i32 v[kRows];
    p.out.begin(first, p.channels, v, t);
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r)
      if (first + r < p.channels) v[r] = add(v[r], sum(p, at, first + r, t));
    p.out.store(at, first, p.channels, v, words, t);
  }

  template <class Thread>
  static LOCKSTEP_DEVICE i32 sum(const Parameters& p, const Position& at, u32 channel, Thread& t) {
    const i32 top = static_cast<i32>(at.line) * p.stride[0] - p.padding[0];
    const i32 left = static_cast<i32>(at.column) * p.stride[1] - p.padding[1];
    const Value* x = p.x + at.image * p.xs[0] + i64{p.group.quotient(channel)} * p.inputs * p.xs[1];
    const i32* w = p.w + channel * p.ws[0];
    i32 v = 0;
    for (i32 i = 0; i < p.inputs; ++i)
      for (i32 r = 0; r < p.taps_high; ++r) {
        const i32 y = top + r * p.dilation[0];
        if (y < 0 || y >= p.lines) continue;
        for (i32 s = 0; s < p.taps_wide; ++s) {
          const i32 c = left + s * p.dilation[1];
          if (c < 0 || c >= p.columns) continue;
          v = add(v,
              multiply(t.get(x + i * p.xs[1] + y * p.xs[2] + c * p.xs[3]),
                  t.get(w + i * p.ws[1] + r * p.ws[2] + s * p.ws[3])));
        }
      }
    return v;
  }
};

struct DepthwiseParameters {
  const Byte *x, *w;
  u32 threads, channels, columns;  ///< of Y
  Divisor steps, spans, lines;     ///< fours of channels; threads of a line; lines of an image
  i32 taps_high, taps_wide;
  i64 image, line, column;         ///< bytes of X from an output's cells to those of the next
  i64 tap_line, tap, tap_weights;  ///< bytes from a tap to the next: of X, and of its weights
  Epilogue out;
};

/// Convolutions of each channel by itself, from cells with padding: a thread for neighbouring
/// columns of four channels. The weights are cells of taps.
/// @tparam kTaps of a kernel's lines and columns; 0: any
template <int kTaps> struct Depthwise : ThreadByThread<Depthwise<kTaps>, 128, 8> {
  using Parameters = DepthwiseParameters;
  static constexpr u32 kSpan = 2;  ///< columns of a thread

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k < p.threads) outputs(p, k, t);
    p.out.border.clear(k, t);
  }

 private:
  template <class Thread>
  static LOCKSTEP_DEVICE void outputs(const Parameters& p, u32 k, Thread& t) {
    const Divided step = divide(k, p.steps), span = divide(step.quotient, p.spans);
    const Divided line = divide(span.quotient, p.lines);
    const u32 channel = step.rest * 4, first = span.rest * kSpan, last = p.columns - 1;
    Position at[kSpan];
    const Byte* x[kSpan];
    Epilogue::Words<4> words[kSpan]{};
    i32 sum[kSpan][4];
    LOCKSTEP_UNROLL
    for (u32 c = 0; c < kSpan; ++c) {
      // A column beyond the last one is that one again, and is not stored.
      at[c] = {line.quotient, line.rest, first + c < last ? first + c : last};
      x[c] = p.x + at[c].image * p.image + at[c].line * p.line + at[c].column * p.column + channel;
      p.out.template fetch<4>(at[c], channel, p.channels, words[c], t);
    }
    p.out.begin(channel, p.channels, sum[0], t);
    LOCKSTEP_UNROLL
    for (u32 c = 1; c < kSpan; ++c) {
      LOCKSTEP_UNROLL
      for (int q = 0; q < 4; ++q) sum[c][q] = sum[0][q];
    }
    const i32 high = kTaps > 0 ? kTaps : p.taps_high, wide = kTaps > 0 ? kTaps : p.taps_wide;
    LOCKSTEP_UNROLL
    for (i32 r = 0; r < high; ++r) {
      LOCKSTEP_UNROLL
      for (i32 s = 0; s < wide; ++s) {
        const u32 w = t.get(
            reinterpret_cast<const u32*>(p.w + (i64{r} * wide + s) * p.tap_weights + channel));
        LOCKSTEP_UNROLL
        for (u32 c = 0; c < kSpan; ++c) {
          const u32 v = t.get(reinterpret_cast<const u32*>(x[c] + r * p.tap_line + s * p.tap));
          LOCKSTEP_UNROLL
          for (int q = 0; q < 4; ++q)
            sum[c][q] = add_products(sum[c][q], v, w & (u32{0xff} << (8 * q)));
        }
      }
    }
    LOCKSTEP_UNROLL
    for (u32 c = 0; c < kSpan; ++c)
      if (first + c <= last) p.out.store(at[c], channel, p.channels, sum[c], words[c], t);
  }
};

using ProductsKernels = KernelList<MatrixProduct<LargeTile, 16>, MatrixProduct<LargeTile, 4>,
    MatrixProduct<SmallTile, 16>, MatrixProduct<SmallTile, 4>, MatrixProduct<ThinTile, 16>,
    MatrixProduct<ThinTile, 4>, PackImages<16>, PackImages<4>, PackWeights, SumOfSplits,
    SmallGroups<i32>, SmallGroups<std::int8_t>, Depthwise<3>, Depthwise<0>>;

}  // namespace lockstep::cuda
