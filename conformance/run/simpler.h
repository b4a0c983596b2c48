/// @file
/// Calls that are simpler than a call, for making failures small.
#pragma once
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

using Candidates = std::vector<Case>;

/// The calls one step simpler: fewer inputs, axes, positions or rows, simpler attributes and
/// memory, a simpler recipe or smaller values. Values that are all equal become a recipe, others
/// are written out where they are few. None of them is the call itself.
Candidates simpler(const Case& c);

/// The simplest calls of the operator, with the largest value that each input of a case has. They
/// are tried because no single change reaches them where several extents and attributes depend on
/// each other.
Candidates near_the_simplest(const Case& c);

}  // namespace lockstep::judge
