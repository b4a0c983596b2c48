/// @file
/// Any operator on the device, by the code of its specification: `at` in one thread per output
/// element, `eval` in a single one.
#pragma once
#include "backends/cuda/device.h"
#include "backends/cuda/launch.h"

namespace lockstep::cuda {

template <Operator Op> __global__ void __launch_bounds__(kBlockMax)
    generic_kernel(const __grid_constant__ Parameters<Op> p) {
  run_thread<Op>(p, i64{blockIdx.x} * blockDim.x + threadIdx.x);
}

template <Operator Op> void launch_generic(const Launch& l) {
  Parameters<Op> p = parameters_of<Op>(l);
  void* arguments[] = {&p};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(&generic_kernel<Op>), blocks_of<Op>(l),
            static_cast<unsigned>(l.block), arguments, 0, l.stream),
      "cudaLaunchKernel");
}

}  // namespace lockstep::cuda
