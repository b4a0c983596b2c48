/// @file
/// From a call to its plan.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/manifest.h"

namespace lockstep::cpu {

/// The plan that runs an operator's specification. Instantiated in the operator's own unit.
template <Operator Op> std::unique_ptr<Plan> generic_plan(const Arguments& a);

/// The tuned kernels of this build.
std::span<const Kernel> tuned_kernels();

/// The kernels of an operator for the best instruction set that is no better than `most` and has
/// one, in their order. Where none of them serves a call, no plainer one does: a forced instruction
/// set is the one that runs, or none.
std::vector<const Kernel*> candidates(
    std::span<const Kernel> kernels, std::string_view op, const Isa& most);

/// The plan of the first candidate that serves the call, or nullptr.
std::unique_ptr<Plan> tuned_plan_of(const Arguments& a);

/// The same, or else the generic plan.
std::unique_ptr<Plan> plan_of(const Arguments& a);

/// Every kernel of this build, for the manifest.
std::vector<backend::Kernel> all_kernels();

}  // namespace lockstep::cpu
