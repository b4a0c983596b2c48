/// @file
/// The values of a case's inputs, by recipe. Normative for golden vectors (vectors/FORMAT.md).
#pragma once
#include <span>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The values of input k of a case, in row-major order; each lies inside the input's precision.
std::vector<i32> fill_values(const Case& c, int k);

/// Values near the limits of arithmetic, ascending: every v of the precision with |v| = 2^i + e,
/// and for a call of one input every v with |v| = (2^i + e) 2^j + d; |e| <= 1, |d| <= 2. The latter
/// include all values beside a power of two, beside the bound of a clamp to any precision before
/// or after any shift, and the ties of every shift.
std::span<const i64> edge_values(int precision, std::size_t inputs);

}  // namespace lockstep::judge
