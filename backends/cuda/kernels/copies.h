/// @file
/// Copies that other families begin with.
#pragma once
#include "backends/cuda/kernels/nests.h"

namespace lockstep::cuda {

/// Starts to copy x to y, the tensors 1 and 0 of joined loops.
void copy(const cpu::Loops& loops, i32* y, const i32* x, cudaStream_t stream);

}  // namespace lockstep::cuda
