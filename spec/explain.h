/// @file
/// Refusals in words, the same for every backend and binding.
#pragma once
#include <string>

#include "spec/check.h"

namespace lockstep {

/// One sentence for a refusal: what, where and why.
std::string explain(const OpInfo& op, const Refusal& why, Attributes attrs, Types in);

}  // namespace lockstep
