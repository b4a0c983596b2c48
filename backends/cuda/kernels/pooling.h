/// @file
/// max_pool2d: a thread for each output. Instead of a position outside the image it reads the
/// nearest one inside, which the window holds, too, so that no read waits for a decision.
#pragma once
#include "backends/cuda/kernels/kernel.h"

namespace lockstep::cuda {

struct PoolParameters {
  u32 outputs;
  Divisor width, height, channels;  ///< of Y
  i32 lines, columns;               ///< of X
  i32 pool[2], stride[2], padding[2];
  i64 xs[4], ys[4];  ///< strides
  const i32* x;
  i32* y;
};

/// Where a thread's outputs lie: x is their channel, y the first output.
struct PoolSpot {
  const i32* x;
  i32* y;
  i32 line, column;
};
LOCKSTEP_DEVICE inline PoolSpot spot_of(const PoolParameters& p, u32 k) {
  const Divided column = divide(k, p.width), line = divide(column.quotient, p.height);
  const Divided channel = divide(line.quotient, p.channels);
  return {p.x + channel.quotient * p.xs[0] + channel.rest * p.xs[1],
      p.y + channel.quotient * p.ys[0] + channel.rest * p.ys[1] + line.rest * p.ys[2] +
          column.rest * p.ys[3],
      static_cast<i32>(line.rest), static_cast<i32>(column.rest)};
}

/// The nearest of the positions 0 .. end - 1.
constexpr i32 nearest(i32 v, i32 end) { return v < 0 ? 0 : v < end ? v : end - 1; }
constexpr i32 larger(i32 a, i32 b) { return a < b ? b : a; }

/// Square windows of kSize x kSize, all reads of which are on their way at once; 0: of any size.
template <int kSize> struct PoolWindows : ThreadByThread<PoolWindows<kSize>> {
  using Parameters = PoolParameters;

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.outputs) return;
    const PoolSpot spot = spot_of(p, k);
    const i32 top = spot.line * p.stride[0] - p.padding[0];
    const i32 left = spot.column * p.stride[1] - p.padding[1];
    i32 most = INT32_MIN;
    const auto look = [&](i32 r, i32 s) {
      most = larger(
          most, t.get(spot.x + nearest(r, p.lines) * p.xs[2] + nearest(s, p.columns) * p.xs[3]));
    };
    if constexpr (kSize > 0) {
      LOCKSTEP_UNROLL
      for (i32 i = 0; i < kSize * kSize; ++i) look(top + i / kSize, left + i % kSize);
    } else {
      for (i32 r = top; r < top + p.pool[0]; ++r)
        for (i32 s = left; s < left + p.pool[1]; ++s) look(r, s);
    }
    t.put(spot.y, most);
  }
};

/// Windows of 2 x 2, or of 3 x 3 with a column of padding, that halve the width: a thread computes
/// four neighbours from groups of four. The parameters count groups of outputs.
template <int kSize> struct PoolHalves : ThreadByThread<PoolHalves<kSize>> {
  using Parameters = PoolParameters;

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.outputs) return;
    const PoolSpot spot = spot_of(p, k);
    const i32 top = spot.line * p.stride[0] - p.padding[0];
    Four most{{INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}};
    LOCKSTEP_UNROLL
    for (i32 r = 0; r < kSize; ++r) {
      const i32* row = spot.x + nearest(top + r, p.lines) * p.xs[2] + i64{spot.column} * 8;
      const Four half[] = {
          t.get(reinterpret_cast<const Four*>(row)), t.get(reinterpret_cast<const Four*>(row + 4))};
      i32 before = kSize > 2 ? t.get(spot.column > 0 ? row - 1 : row) : INT32_MIN;
      LOCKSTEP_UNROLL
      for (int j = 0; j < 4; ++j) {
        const i32 a = half[j / 2].item[j % 2 * 2], b = half[j / 2].item[j % 2 * 2 + 1];
        most.item[j] = larger(most.item[j], larger(before, larger(a, b)));
        if (kSize > 2) before = b;
      }
    }
    t.put(reinterpret_cast<Four*>(spot.y), most);
  }
};

using PoolingKernels = KernelList<PoolWindows<0>, PoolWindows<2>, PoolWindows<3>, PoolWindows<5>,
    PoolHalves<2>, PoolHalves<3>>;

}  // namespace lockstep::cuda
