/// @file
/// Sums, differences and products that implementations compute on the way to an element, and that
/// exceed 2^31 in some legal calls although no element does.
#pragma once
#include <cstdint>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A set of intermediates: bit k is intermediate k.
using Intermediates = std::uint32_t;

/// What intermediate k is, as `a difference beyond 2^31`.
string_view intermediate_name(int k);

/// The intermediates that exceed 2^31 in some calls of an operator. The rules of most operators
/// exclude them: where every partial sum and every product fits 32 bits, there is none.
Intermediates intermediates_of(const OpInfo& op);

/// Those that exceed 2^31 in one call.
Intermediates intermediates_of(const Case& c, const std::vector<Tensor>& in);

}  // namespace lockstep::judge
