/// @file
/// The descriptions of all operators, in the order of the list.
#pragma once
#include <vector>

#include "spec/info.h"

namespace lockstep {

/// The description of every operator.
const std::vector<const OpInfo*>& operators();

/// The operator with this canonical name or alias, or nullptr.
const OpInfo* find_operator(string_view name);

}  // namespace lockstep
