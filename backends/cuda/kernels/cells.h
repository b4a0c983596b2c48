/// @file
/// The factors of products, packed as bytes. An image becomes cells: per position its channels, in
/// whole words for each group, with the padding around it. Weights become panels, in the very order
/// of shared memory.
#pragma once
#include "backends/cuda/kernels/fragment.h"

namespace lockstep::cuda {

/// An output of an image.
struct Position {
  i64 image, line, column;
};

/// How a kernel moves over an image.
struct Window {
  Divisor lines, columns;  ///< of the output
  Divisor taps_wide;
  u32 taps;  ///< in all
  i64 stride[2], dilation[2];

  constexpr Position position(u32 output) const {
    const Divided column = divide(output, columns), line = divide(column.quotient, lines);
    return {line.quotient, line.rest, column.rest};
  }
};

/// Images as cells. The depth of a product is counted in words, four channels of a tap each.
struct Cells {
  u32 lines, columns;   ///< of an image with its padding
  i64 position_bytes;   ///< of all groups
  Divisor group_words;  ///< words of a group at a position
  u32 taps;

  constexpr u32 words() const { return taps * group_words.value(); }
  constexpr i64 group_bytes() const { return i64{group_words.value()} * 4; }
  constexpr i64 image_bytes() const { return i64{lines} * columns * position_bytes; }

  /// Where the window of an output begins.
  constexpr i64 position(const Window& w, u32 output) const {
    const Position at = w.position(output);
    return at.image * image_bytes() +
        (at.line * w.stride[0] * columns + at.column * w.stride[1]) * position_bytes;
  }
  /// How far after the window's beginning a word of the depth lies.
  constexpr i64 tap(const Window& w, u32 word) const {
    const Divided at = divide(word, group_words), tap = divide(at.quotient, w.taps_wide);
    return (tap.quotient * w.dilation[0] * columns + tap.rest * w.dilation[1]) * position_bytes +
        i64{at.rest} * 4;
  }
};

/// Packs images, kGrain channels of a position in each thread; neighbouring threads read
/// neighbouring positions.
template <int kGrain> struct PackImages : ThreadByThread<PackImages<kGrain>> {
  struct Parameters {
    const i32* x;
    Byte* cells;
    u32 threads;
    Divisor columns, lines, grains, groups;  ///< with the padding; grains of a group
    i32 inputs;                              ///< channels of a group
    i32 height, width, padding[2];
    i64 xs[4];        ///< strides of X
    bool is_aligned;  ///< whether four channels can be read at once
  };
  static constexpr int kWords = kGrain / 4;

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.threads) return;
    const Divided column = divide(k, p.columns), line = divide(column.quotient, p.lines);
    const Divided grain = divide(line.quotient, p.grains), group = divide(grain.quotient, p.groups);
    const i32 y = static_cast<i32>(line.rest) - p.padding[0];
    const i32 x = static_cast<i32>(column.rest) - p.padding[1];
    const bool is_inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
    const i32 first = static_cast<i32>(grain.rest) * kGrain;
    const i32* from = p.x + group.quotient * p.xs[0] +
        (i64{group.rest} * p.inputs + first) * p.xs[1] + y * p.xs[2] + x * p.xs[3];
    Four words{};
    LOCKSTEP_UNROLL
    for (int w = 0; w < kWords; ++w)
      if (is_inside) words.item[w] = static_cast<i32>(word(p, from, first + w * 4, w * 4, t));
    const i64 position =
        (i64{group.quotient} * p.lines.value() + line.rest) * p.columns.value() + column.rest;
    Byte* to = p.cells +
        ((position * p.groups.value() + group.rest) * p.grains.value() + grain.rest) * kGrain;
    if constexpr (kGrain == 16)
      t.put(reinterpret_cast<Four*>(to), words);
    else
      t.put(reinterpret_cast<i32*>(to), words.item[0]);
  }

 private:
  /// Four channels, with zeros beyond the last one.
  template <class Thread> static LOCKSTEP_DEVICE u32 word(
      const Parameters& p, const i32* from, i32 channel, i32 ahead, Thread& t) {
    if (p.is_aligned && channel + 4 <= p.inputs) {
      const Four v = t.get(reinterpret_cast<const Four*>(from + ahead));
      return narrowed(v.item[0], v.item[1], v.item[2], v.item[3]);
    }
    i32 v[4];
    LOCKSTEP_UNROLL
    for (int c = 0; c < 4; ++c)
      v[c] = channel + c < p.inputs ? t.get(from + (ahead + c) * p.xs[1]) : 0;
    return narrowed(v[0], v[1], v[2], v[3]);
  }
};

/// The weights of a layer in words of the depth, four channels of a tap each.
struct Weights {
  const i32* data;
  i64 stride[4];
  i32 channels;                    ///< of a group
  Divisor group_words, taps_wide;  ///< words of a tap, taps of a line

  /// A word of the depth, with zeros beyond the last channel.
  template <class Thread> LOCKSTEP_DEVICE u32 word(i64 row, u32 word, Thread& t) const {
    const Divided at = divide(word, group_words), tap = divide(at.quotient, taps_wide);
    const i32* from = data + row * stride[0] + tap.quotient * stride[2] + tap.rest * stride[3];
    i32 v[4];
    LOCKSTEP_UNROLL
    for (int c = 0; c < 4; ++c) {
      const i32 channel = static_cast<i32>(at.rest) * 4 + c;
      v[c] = channel < channels ? t.get(from + channel * stride[1]) : 0;
    }
    return narrowed(v[0], v[1], v[2], v[3]);
  }
};

/// Packs weights, a chunk of a panel in each thread, with zeros beyond the rows and the depth.
struct PackWeights : ThreadByThread<PackWeights> {
  struct Parameters {
    Weights w;
    Byte* panels;
    u32 threads;
    Divisor chunks, depth, row_tiles;  ///< chunks of a panel, panels of a row of tiles
    u32 tile_rows, warp_rows, rows;    ///< of a panel, of a warp, of a group
    u32 words;                         ///< of the depth
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.threads) return;
    const Divided chunk = divide(k, p.chunks), panel = divide(chunk.quotient, p.depth);
    const Divided tile = divide(panel.quotient, p.row_tiles);
    const Place at = Panel::place(static_cast<int>(chunk.rest) * Panel::kChunk);
    const u32 row = tile.rest * p.tile_rows + output_row(static_cast<u32>(at.row), p.warp_rows);
    Four words{};
    LOCKSTEP_UNROLL
    for (int w = 0; w < 4; ++w) {
      const u32 word = panel.rest * (Panel::kDepth / 4) + static_cast<u32>(at.column * 4 + w);
      if (row < p.rows && word < p.words)
        words.item[w] = static_cast<i32>(p.w.word(i64{tile.quotient} * p.rows + row, word, t));
    }
    t.put(reinterpret_cast<Four*>(p.panels + i64{k} * Panel::kChunk), words);
  }
};

}  // namespace lockstep::cuda
