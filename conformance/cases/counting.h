/// @file
/// Calls that enumerate values, for operators whose output elements depend only on the input
/// elements at the same place.
#pragma once
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Whether the values of an operator can be enumerated: it is elementwise, takes each input once
/// and has no lists among its attributes.
bool is_enumerable(const OpInfo& op);

/// One call for each setting of an operator that is_enumerable(), the widest precision first.
/// Together the inputs hold every combination of edge values (fill.h). A setting is a legal choice
/// of attributes - each value of a narrow range, powers of two and their neighbours of a wide one -
/// and precisions, as wide as the attributes permit.
std::vector<Case> edge_cases(const OpInfo& op);

/// Calls that together hold every value of the widest legal precision, for `settings` settings,
/// drawn at random, of an is_enumerable() operator of one input. No call has more than 2^22
/// elements.
std::vector<Case> range_cases(const OpInfo& op, u64 seed, int settings);

/// One call of one element for each setting of an is_enumerable() operator of one input with this
/// precision: each value of a boolean and of a narrow range, and powers of two and their neighbours
/// of a wide one.
std::vector<Case> value_settings(const OpInfo& op, int precision);

/// Whether value_settings() leaves out values of an attribute, as its range is wide.
bool has_wide_attribute(const OpInfo& op);

}  // namespace lockstep::judge
