/// @file
/// max_pool2d: a thread for each output.
#pragma once
#include "backends/cuda/kernels/kernel.h"

namespace lockstep::cuda {

struct PoolWindows {
  struct Parameters {
    u32 outputs;
    Divisor width, height, channels;  ///< of Y
    i32 lines, columns;               ///< of X
    i32 pool[2], stride[2], padding[2];
    i64 xs[4], ys[4];  ///< strides
    const i32* x;
    i32* y;
  };
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
      const auto inside = [](i32 v, i32 most) { return v < most ? v : most; };
      const i32 bottom = inside(top + p.pool[0], p.lines),
                right = inside(left + p.pool[1], p.columns);
      const i32* x = p.x + channel.quotient * p.xs[0] + channel.rest * p.xs[1];
      i32 most = INT32_MIN;
      for (i32 r = top < 0 ? 0 : top; r < bottom; ++r)
        for (i32 s = left < 0 ? 0 : left; s < right; ++s) {
          const i32 v = t.get(x + r * p.xs[2] + s * p.xs[3]);
          most = v > most ? v : most;
        }
      t.put(p.y + channel.quotient * p.ys[0] + channel.rest * p.ys[1] + line.rest * p.ys[2] +
              column.rest * p.ys[3],
          most);
    });
  }
};

using PoolingKernels = KernelList<PoolWindows>;

}  // namespace lockstep::cuda
