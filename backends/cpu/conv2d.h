/// @file
/// What the compiler of graphs asks of conv2d.
#pragma once
#include "backends/cpu/kernels.h"

namespace lockstep::cpu {

/// Whether a tuned kernel serves the call with its fusion.
bool conv2d_serves(const Arguments& a);

}  // namespace lockstep::cpu
