/// @file
/// Makes plans for operators, folded from the list of operators.
#pragma once
#include <memory>
#include <vector>

#include "backends/bridge.h"
#include "backends/cuda/device.h"
#include "backends/manifest.h"

namespace lockstep::cuda {

using backend::DevicePlan;

/// A legal call, its device and the block size.
struct Arguments {
  backend::LegalCall call;
  std::shared_ptr<Device> device;
  int block;  ///< threads per block
};

/// The plan of a call of any operator.
std::unique_ptr<DevicePlan> plan_of(const Arguments& a);

/// Every kernel of this build. @param runnable whether this machine can run them
std::vector<backend::Kernel> all_kernels(bool runnable);

}  // namespace lockstep::cuda
