/// @file
/// How products in one launch (direct.h) read the columns of their right factor: windows of images,
/// as the images lie. Each source has the registers of a lane, fetch(), which begins to read a step
/// of the depth, and take(), after which a fragment of each product is in the registers `b`.
#pragma once
#include "backends/cuda/kernels/epilogue.h"

namespace lockstep::cuda {

/// The depth of a product in words, four channels of a tap each, taps one after the other. A step
/// is one product of tensor cores, or two of cells, of which a lane reads sixteen bytes at once.
struct Depth {
  u32 words, steps, products;  ///< products of a step
  bool has_whole_taps;         ///< whether the words of any step belong to one tap
  i32 channels;                ///< of a group
  Divisor group_words, taps_wide;

  static constexpr int kWords = Fragment::kDepth / 4;  ///< of a product

  /// The word that register `half` of a lane's fragment holds in a step's product.
  constexpr u32 word(u32 step, u32 product, u32 half, int lane) const {
    const u32 quarter = static_cast<u32>(lane) % 4;
    const u32 at = products == 1 ? half * 4 + quarter : quarter * 4 + product * 2 + half;
    return step * products * kWords + at;
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

/// Where the window of a column begins. Offsets count modulo 2^32, so that a sum matters only once
/// it lies inside an image.
struct Corner {
  i32 line, column;
  u32 offset;
};
LOCKSTEP_DEVICE constexpr Corner corner_of(const DirectParameters& p, u32 group, u32 column) {
  // Columns beyond the last one read what it reads; nothing stores their sums.
  const Position at = p.window.position(min(column, p.columns - 1));
  const i32 line = static_cast<i32>(at.line * p.window.stride[0]) - p.padding[0];
  const i32 left = static_cast<i32>(at.column * p.window.stride[1]) - p.padding[1];
  return {line, left,
      static_cast<u32>(at.image) * p.xs[0] + group * p.group + static_cast<u32>(line) * p.xs[2] +
          static_cast<u32>(left) * p.xs[3]};
}

/// How far after a corner a word of the depth lies.
struct Reach {
  i32 down, right, channel;
  u32 offset;

  /// Whether the word is in the image.
  constexpr bool is_inside(const DirectParameters& p, const Corner& at) const {
    const i32 line = at.line + down, column = at.column + right;
    return line >= 0 && line < p.height && column >= 0 && column < p.width;
  }
};
LOCKSTEP_DEVICE constexpr Reach reach_of(const DirectParameters& p, u32 word) {
  const Divided at = divide(word, p.depth.group_words),
                tap = divide(at.quotient, p.depth.taps_wide);
  const i32 down = static_cast<i32>(tap.quotient * p.window.dilation[0]);
  const i32 right = static_cast<i32>(tap.rest * p.window.dilation[1]);
  return {down, right, static_cast<i32>(at.rest) * 4,
      at.rest * 4 * p.xs[1] + static_cast<u32>(down) * p.xs[2] + static_cast<u32>(right) * p.xs[3]};
}

/// A tensor in any layout. Neighbouring lanes read neighbouring columns, and exchange what they
/// have read through shared memory that belongs to their warp.
template <int kJ> struct AnyColumns {
  static constexpr int kProducts = 1, kColumns = kJ * Fragment::kColumns;
  static constexpr bool kIsShared = true;
  static constexpr int kShares = Fragment::kLanes / kColumns;  ///< lanes of a column
  static constexpr int kReads = Depth::kWords / kShares;       ///< words of a lane
  static_assert(kShares == 1 || kShares == 4, "how a warp writes without waiting for a bank");

  struct Registers {
    Corner corner;
    Four next[kReads];
  };

  template <class Thread>
  static LOCKSTEP_DEVICE void begin(const DirectParameters& p, u32 group, u32 first, Thread& t) {
    t.r.columns.corner = corner_of(p, group, first + static_cast<u32>(t.id) % kColumns);
  }
  template <class Thread>
  static LOCKSTEP_DEVICE void fetch(const DirectParameters& p, u32 step, Thread& t) {
    const u32 share = static_cast<u32>(t.id % Fragment::kLanes / kColumns);
    const Corner& corner = t.r.columns.corner;
    const bool is_step = step < p.depth.steps;
    const u32 first = step * Depth::kWords;
    if (p.depth.has_whole_taps) {
      const Reach reach = reach_of(p, first);
      const bool is_there = is_step && reach.is_inside(p, corner);
      const u32 offset = corner.offset + reach.offset + share * 4 * p.xs[1];
      LOCKSTEP_UNROLL
      for (u32 k = 0; k < kReads; ++k)
        t.r.columns.next[k] = is_there ? read(p, offset + k * kShares * 4 * p.xs[1], 4, t) : Four{};
      return;
    }
    LOCKSTEP_UNROLL
    for (u32 k = 0; k < kReads; ++k) {
      const u32 word = first + share + k * kShares;
      const Reach reach = reach_of(p, word);
      const bool is_there = word < p.depth.words && reach.is_inside(p, corner);
      t.r.columns.next[k] = is_there
          ? read(p, corner.offset + reach.offset, p.depth.channels - reach.channel, t)
          : Four{};
    }
  }
  /// Hands what was read to the other lanes. @param stage of the warp, in shared memory
  template <class Thread> static LOCKSTEP_DEVICE void share(int stage, Thread& t) {
    const int lane = t.id % Fragment::kLanes, column = lane % kColumns, share = lane / kColumns;
    u32 words[kReads];
    LOCKSTEP_UNROLL
    for (int k = 0; k < kReads; ++k) {
      const Four& v = t.r.columns.next[k];
      words[k] = narrowed(v.item[0], v.item[1], v.item[2], v.item[3]);
    }
    LOCKSTEP_UNROLL
    for (int chunk = 0; chunk < 2; ++chunk) {
      if constexpr (kShares == 1) {
        Four four;
        LOCKSTEP_UNROLL
        for (int k = 0; k < 4; ++k) four.item[k] = static_cast<i32>(words[chunk * 4 + k]);
        t.store(stage + offset(column, chunk), four);
      } else {
        t.store(stage + offset(column, chunk) + share * 4, words[chunk]);
      }
    }
  }
  template <class Registers, class Thread>
  static LOCKSTEP_DEVICE void take(int stage, Registers& b, Thread& t) {
    u32 four[4];
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; j += 2) {
      t.load_matrices(four, [&](int row) {
        const int matrix = kJ == 1 ? row / 8 % 2 : row / 8;
        return stage + offset((j + matrix / 2) * Fragment::kColumns + row % 8, matrix % 2);
      });
      LOCKSTEP_UNROLL
      for (int k = 0; k < 4; ++k)
        if (j + k / 2 < kJ) b[0][j + k / 2][k % 2] = four[k];
    }
  }

 private:
  /// Columns of 32 bytes in two chunks, which change places in every other four columns, so that
  /// eight columns spread over all banks.
  static constexpr int offset(int column, int chunk) {
    return column * Fragment::kDepth + (chunk ^ (column / 4 % 2)) * 16;
  }
  /// Four channels of which `count` exist, zeros beyond them.
  template <class Thread>
  static LOCKSTEP_DEVICE Four read(const DirectParameters& p, u32 offset, i32 count, Thread& t) {
    const i32* from = static_cast<const i32*>(p.x) + offset;
    Four four{};
    LOCKSTEP_UNROLL
    for (i32 c = 0; c < 4; ++c)
      if (c < count) four.item[c] = t.get(from + i64{c} * p.xs[1]);
    return four;
  }
};

/// Sources of which each lane reads just the words of its fragments.
/// @tparam kFours what it reads of a column and step, sixteen bytes each
template <int kJ, int kFours> struct FragmentColumns {
  static constexpr bool kIsShared = false;

  struct Registers {
    Corner corner[kJ];
    Four next[kJ][kFours];
  };
  template <class Thread>
  static LOCKSTEP_DEVICE void begin(const DirectParameters& p, u32 group, u32 first, Thread& t) {
    const int column = Fragment::b(t.id % Fragment::kLanes, 0).column;
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j)
      t.r.columns.corner[j] =
          corner_of(p, group, first + static_cast<u32>(j * Fragment::kColumns + column));
  }
};

/// A tensor whose channels are neighbours, in whole fours.
template <int kJ> struct NearColumns : FragmentColumns<kJ, 2> {
  static constexpr int kProducts = 1;

  template <class Thread>
  static LOCKSTEP_DEVICE void fetch(const DirectParameters& p, u32 step, Thread& t) {
    LOCKSTEP_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      const u32 word = p.depth.word(step, 0, half, t.id);
      const Reach reach = reach_of(p, word);
      LOCKSTEP_UNROLL
      for (int j = 0; j < kJ; ++j) {
        const Corner& corner = t.r.columns.corner[j];
        const i32* from = static_cast<const i32*>(p.x) + (corner.offset + reach.offset);
        t.r.columns.next[j][half] = word < p.depth.words && reach.is_inside(p, corner)
            ? t.get(reinterpret_cast<const Four*>(from))
            : Four{};
      }
    }
  }
  template <class Registers, class Thread>
  static LOCKSTEP_DEVICE void take(int, Registers& b, Thread& t) {
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j) {
      LOCKSTEP_UNROLL
      for (int half = 0; half < 2; ++half) {
        const Four& v = t.r.columns.next[j][half];
        b[0][j][half] = narrowed(v.item[0], v.item[1], v.item[2], v.item[3]);
      }
    }
  }
};

/// Cells, with padding around them, and sixteen or more channels at a position.
template <int kJ> struct CellColumns : FragmentColumns<kJ, 1> {
  static constexpr int kProducts = 2;

  template <class Thread>
  static LOCKSTEP_DEVICE void fetch(const DirectParameters& p, u32 step, Thread& t) {
    const u32 word = p.depth.word(step, 0, 0, t.id);
    const Reach reach = reach_of(p, word);
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j) {
      const Byte* from =
          static_cast<const Byte*>(p.x) + (t.r.columns.corner[j].offset + reach.offset);
      t.r.columns.next[j][0] =
          word < p.depth.words ? t.get(reinterpret_cast<const Four*>(from)) : Four{};
    }
  }
  template <class Registers, class Thread>
  static LOCKSTEP_DEVICE void take(int, Registers& b, Thread& t) {
    LOCKSTEP_UNROLL
    for (int j = 0; j < kJ; ++j) {
      LOCKSTEP_UNROLL
      for (int k = 0; k < 4; ++k)
        b[k / 2][j][k % 2] = static_cast<u32>(t.r.columns.next[j][0].item[k]);
    }
  }
};

}  // namespace lockstep::cuda
