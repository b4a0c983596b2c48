/// @file
/// take and cvm_lut: elements or rows that clamped indices choose.
#pragma once
#include "backends/cuda/kernels/nest.h"

namespace lockstep::cuda {

struct GatherElements : ThreadByThread<GatherElements> {
  struct Parameters {
    Nest<3> nest;  ///< of Y, of X without what the indices choose, and of the indices
    i64 last;      ///< the largest index
    i64 step;      ///< of X from one index to the next
    /// Whether one index chooses the elements of a thread. Else X has no step between these.
    bool is_row;
    const i32 *x, *index;
    i32* y;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.nest.items) return;
    const auto spot = p.nest.spot(k);
    const auto chosen = [&](i32 index) { return p.x + clamp(index, 0, p.last) * p.step; };
    Four y{};
    if (p.is_row) {
      y = p.nest.read(chosen(t.get(p.index + spot.offset[2])), 1, spot, t);
    } else {
      const Four index = p.nest.read(p.index, 2, spot, t);
      LOCKSTEP_UNROLL
      for (u32 j = 0; j < kGroup; ++j)
        if (j < spot.count) y.item[j] = t.get(chosen(index.item[j]) + spot.offset[1]);
    }
    p.nest.write(p.y, spot, y, t);
  }
};

using GathersKernels = KernelList<GatherElements>;

}  // namespace lockstep::cuda
