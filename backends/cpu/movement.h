/// @file
/// A copy as a plan.
#pragma once
#include <memory>

#include "backends/cpu/kernels.h"

namespace lockstep::cpu {

/// The plan that copies a tensor into one of the same type in another layout.
std::unique_ptr<Plan> copy_plan(
    const View& x, const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa);

}  // namespace lockstep::cpu
