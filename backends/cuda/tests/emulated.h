/// @file
/// The generic kernels' launch on the host: the threads' own text, in a loop.
#pragma once
#include "backends/cuda/device.h"
#include "backends/cuda/launch.h"

namespace lockstep::cuda {

template <Operator Op> void launch_emulated(const Launch& l) {
  check(fake::launch("generic", blocks_of<Op>(l), l.block, l.stream,
            [p = parameters_of<Op>(l), n = i64{l.block}](i64 b) {
              for (i64 k = (b + 1) * n; k-- > b * n;) run_thread<Op>(p, k);
            }),
      "cudaLaunchKernel");
}

}  // namespace lockstep::cuda
