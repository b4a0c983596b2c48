/// @file
/// elemwise_add: the sum of two tensors of one shape.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct ElemwiseAdd : Pairwise {
  static constexpr string_view name = "elemwise_add";
  static constexpr string_view summary =
      "Adds two tensors of the same shape. The precision grows by one bit.";
  static constexpr string_view formula = "Y[y] = A[y] + B[y]";

  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return i64{in[A](y)} + in[B](y);
  }
  static constexpr Law<Attrs> laws[] = {law::commutative, law::associative, law::pointwise,
      law::additive<A, B>,
      {"as_broadcast", "op(A, B) = broadcast_add(A, B)",
          [](auto& t) { return t.y() == t.sum(t[A], t[B]); }},
      {"undone", "op(A, B) - B = A", [](auto& t) {
         return t.op("elemwise_sub", {t.y(), t[B]}) == t[A];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {127, -127, 5, 0}}, {{2, 2}, 4, {7, -7, -7, 1}}},
          {{{2, 2}, 9, {134, -134, -2, 1}}}},
      {"the widest legal sum, whose last bit float32 loses", {},
          {{{2}, 31, {1073741823, -1073741823}}, {{2}, 31, {1073741822, -1073741822}}},
          {{{2}, 32, {2147483645, -2147483645}}}},
  };
};

}  // namespace lockstep
