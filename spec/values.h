/// @file
/// The outputs of operators of one element, value by value and without tensors, so that all 2^32
/// inputs can be compared in seconds.
#pragma once
#include <type_traits>

#include "spec/elementwise.h"
#include "spec/operators.h"

namespace lockstep {

/// Whether an operator computes each output from the one element of its only input.
template <class Op> constexpr bool kOfOneElement =
    Pointwise<Op>&& std::is_base_of_v<Elementwise, Op>;

/// An input of which every element has one value.
struct ConstantInput {
  struct Elements {
    i64 value;
    constexpr i64 operator()(const Index&) const { return value; }
  } x;
  constexpr const Elements& operator[](int) const { return x; }
};

/// The output of such an operator for a value.
template <class Op> constexpr i32 output_of(const typename Op::Attrs& attrs, i64 value) {
  return static_cast<i32>(Op::at(attrs, ConstantInput{{value}}, Index{}));
}

/// Writes the output of each of `n` input values.
using ValuesOf = void (*)(Attributes attrs, const i32* in, i32* out, i64 n);

/// The function that computes an elementwise operator of one input by its `at`; nullptr for others.
ValuesOf values_of(const OpInfo& op);

}  // namespace lockstep
