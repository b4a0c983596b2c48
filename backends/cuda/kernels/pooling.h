/// @file
/// max_pool2d: a thread for each output. It reads positions outside the image as the nearest ones
/// inside, which the window holds, too, so that no read waits for a decision.
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

/// Square windows of kSize x kSize, all reads of which are on their way at once; 0: of any size.
template <int kSize> struct PoolWindows {
  using Parameters = PoolParameters;
  using Registers = NoRegisters;
  static constexpr int kThreads = 256, kShared = 0, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      const u32 k = static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id);
      if (k >= p.outputs) return;
      const Divided column = divide(k, p.width), line = divide(column.quotient, p.height);
      const Divided channel = divide(line.quotient, p.channels);
      const auto first = [&](u32 at, int d) {
        return static_cast<i32>(at) * p.stride[d] - p.padding[d];
      };
      const i32 top = first(line.rest, 0), left = first(column.rest, 1);
      const auto inside = [](i32 v, i32 end) { return v < 0 ? 0 : v < end ? v : end - 1; };
      const i32* x = p.x + channel.quotient * p.xs[0] + channel.rest * p.xs[1];
      i32 most = INT32_MIN;
      const auto look = [&](i32 r, i32 s) {
        const i32 v = t.get(x + inside(r, p.lines) * p.xs[2] + inside(s, p.columns) * p.xs[3]);
        most = v > most ? v : most;
      };
      if constexpr (kSize > 0) {
        LOCKSTEP_UNROLL
        for (i32 k = 0; k < kSize * kSize; ++k) look(top + k / kSize, left + k % kSize);
      } else {
        for (i32 r = top; r < top + p.pool[0]; ++r)
          for (i32 s = left; s < left + p.pool[1]; ++s) look(r, s);
      }
      t.put(p.y + channel.quotient * p.ys[0] + channel.rest * p.ys[1] + line.rest * p.ys[2] +
              column.rest * p.ys[3],
          most);
    });
  }
};

using PoolingKernels = KernelList<PoolWindows<0>, PoolWindows<2>, PoolWindows<3>, PoolWindows<5>>;

}  // namespace lockstep::cuda
