/// @file
/// Copies between layouts: element by element in the order of the target, or, where source and
/// target follow different axes, by way of tiles in shared memory.
#pragma once
#include "backends/cuda/kernels/nest.h"

namespace lockstep::cuda {

/// At most kParts copies in one launch, each by blocks of its own.
template <int kParts> struct CopyElements {
  struct Part {
    Nest<2> nest;
    const i32* x;
    i32* y;
  };
  struct Parameters {
    Part part[kParts];
    u32 end[kParts];  ///< of the blocks of each part
  };
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    u32 number = static_cast<u32>(block.number());
    int n = 0;
    while (n + 1 < kParts && number >= p.end[n]) ++n;
    if (n > 0) number -= p.end[n - 1];
    const Part& part = p.part[n];
    block.each([&](auto& t) {
      const u32 k = number * kThreads + static_cast<u32>(t.id);
      if (k >= part.nest.items) return;
      const auto spot = part.nest.spot(k);
      part.nest.write(part.y, spot, part.nest.read(part.x, 1, spot, t), t);
    });
  }
};
inline constexpr int kCopiesMax = 4;  ///< branches of a network that usually meet

/// Rows that repeat each element of the source: a thread writes four of a row, wherever they begin
/// to repeat.
struct RepeatElements : ThreadByThread<RepeatElements> {
  struct Parameters {
    Axes<2> outer;
    Divisor groups;   ///< of a row
    Divisor repeats;  ///< of an element
    i64 x_stride;     ///< from one element to the next
    u32 items;
    const i32* x;
    i32* y;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.items) return;
    const Divided at = divide(k, p.groups);
    const u32 first = at.rest * kGroup;
    i64 offset[2] = {first, 0};
    p.outer.move(at.quotient, offset);
    Four v;
    LOCKSTEP_UNROLL
    for (u32 j = 0; j < kGroup; ++j)
      v.item[j] = t.get(p.x + offset[1] + p.repeats.quotient(first + j) * p.x_stride);
    t.put(reinterpret_cast<Four*>(p.y + offset[0]), v);
  }
};

/// Tiles of 32 x 32 elements: rows follow the source, columns the target. Rows are one word longer,
/// so that a column spreads over all banks.
struct TransposeTiles {
  static constexpr int kTile = 32, kPitch = kTile + 1;
  struct Parameters {
    Axes<2> outer;  ///< all but the two axes of tiles
    u32 extent[2];  ///< of the target's innermost axis, and of the source's
    Divisor tiles[2];
    i64 y_stride[2], x_stride[2];
    const i32* x;
    i32* y;
  };
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = kTile * kPitch * 4, kOccupancy = 4;
  static constexpr int kRows = kThreads / kTile;  ///< of a tile, moved at once

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Divided inner = divide(static_cast<u32>(block.number()), p.tiles[0]);
    const Divided outer = divide(inner.quotient, p.tiles[1]);
    const u32 to_first = inner.rest * kTile, from_first = outer.rest * kTile;
    i64 offset[2] = {to_first * p.y_stride[0] + from_first * p.y_stride[1],
        to_first * p.x_stride[0] + from_first * p.x_stride[1]};
    p.outer.move(outer.quotient, offset);
    const u32 to_count = p.extent[0] - to_first, from_count = p.extent[1] - from_first;
    block.each([&](auto& t) {
      const u32 lane = static_cast<u32>(t.id % kTile);
      LOCKSTEP_UNROLL
      for (u32 i = 0; i < kTile; i += kRows) {
        const u32 row = static_cast<u32>(t.id / kTile) + i;
        if (row < to_count && lane < from_count)
          t.store(static_cast<int>(row * kPitch + lane) * 4,
              t.get(p.x + offset[1] + row * p.x_stride[0] + lane * p.x_stride[1]));
      }
    });
    block.sync();
    block.each([&](auto& t) {
      const u32 lane = static_cast<u32>(t.id % kTile);
      LOCKSTEP_UNROLL
      for (u32 i = 0; i < kTile; i += kRows) {
        const u32 column = static_cast<u32>(t.id / kTile) + i;
        if (lane < to_count && column < from_count)
          t.put(p.y + offset[0] + lane * p.y_stride[0] + column * p.y_stride[1],
              t.template load<i32>(static_cast<int>(lane * kPitch + column) * 4));
      }
    });
  }
};

using MovementKernels =
    KernelList<CopyElements<1>, CopyElements<kCopiesMax>, RepeatElements, TransposeTiles>;

}  // namespace lockstep::cuda
