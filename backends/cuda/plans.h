/// @file
/// Makes plans for operators: by a tuned kernel, or by the specification's text.
#pragma once
#include <memory>
#include <vector>

#include "backends/bridge.h"
#include "backends/cuda/device.h"
#include "backends/cuda/packing.h"
#include "backends/manifest.h"

namespace lockstep::cuda {

using backend::DevicePlan;

/// Whether products with constant weights run in one launch (kernels/direct.h).
enum class Direct { never, where_faster, always };

/// A legal call, its device and how it may be launched.
struct Arguments {
  backend::LegalCall call;
  std::vector<const i32*>
      constants;  ///< by input, on the device; nullptr: each execution brings it
  std::shared_ptr<Device> device;
  int block = 0;         ///< threads per block of the generic kernels
  bool is_tuned = true;  ///< whether other kernels may be used
  Direct direct = Direct::where_faster;
  Fusion fusion{};  ///< only of a product that product_traits() knows
};

/// The plan of a call of any operator.
std::unique_ptr<DevicePlan> plan_of(const Arguments& a);

/// A plan that copies one tensor to another of its shape.
std::unique_ptr<DevicePlan> copy_plan(
    const View& x, const Out& y, const std::shared_ptr<Device>& device);

/// Whether an execution of a plan sends what lies in host memory, which cannot be recorded.
bool sends_views(const DevicePlan& plan);

/// Every kernel of this build. @param runnable whether this machine can run them
std::vector<backend::Kernel> all_kernels(bool runnable);

}  // namespace lockstep::cuda
