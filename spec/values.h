/// @file
/// The outputs of operators of one element, value by value and without tensors, so that all 2^32
/// inputs can be compared in seconds.
#pragma once
#include "spec/operators.h"

namespace lockstep {

/// Writes the output of each of `n` input values.
using ValuesOf = void (*)(Attributes attrs, const i32* in, i32* out, i64 n);

/// The function that computes an elementwise operator of one input by its `at`; nullptr for others.
ValuesOf values_of(const OpInfo& op);

}  // namespace lockstep
