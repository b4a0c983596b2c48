/// @file
/// The values of a case's inputs, by recipe. Normative for golden vectors (vectors/FORMAT.md).
#pragma once
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The values of input k of a case, in row-major order; each lies inside the input's precision.
std::vector<i32> fill_values(const Case& c, int k);

}  // namespace lockstep::judge
