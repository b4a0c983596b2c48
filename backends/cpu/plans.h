/// @file
/// Makes plans for operators, folded from the list of operators.
#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/manifest.h"

namespace lockstep::cpu {

/// The plan of a call of one operator. Declared here, instantiated in the operator's own unit.
template <Operator Op>
std::unique_ptr<Plan> plan(const Arguments& a);

/// The plan of a call of any operator.
std::unique_ptr<Plan> plan_of(const Arguments& a);

/// Every kernel of this build.
std::vector<backend::Kernel> all_kernels();

}  // namespace lockstep::cpu
