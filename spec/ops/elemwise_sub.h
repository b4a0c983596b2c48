/// @file
/// elemwise_sub: the difference of two tensors of one shape.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct ElemwiseSub : Pairwise {
  static constexpr string_view name = "elemwise_sub";
  static constexpr string_view summary =
      "Subtracts B from A, which has the same shape. The precision grows by one bit.";
  static constexpr string_view formula = "Y[y] = A[y] - B[y]";

  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return i64{in[A](y)} - in[B](y);
  }
  static constexpr Law<Attrs> laws[] = {law::pointwise, law::additive<A, B>,
      {"antisymmetric", "op(A, B) = -op(B, A)",
          [](auto& t) {
            return t.y() == t.negative(t.self({t[B], t[A]}));
          }},
      {"as_broadcast", "op(A, B) = broadcast_sub(A, B)",
          [](auto& t) { return t.y() == t.difference(t[A], t[B]); }},
      {"undone", "op(A, B) + B = A", [](auto& t) {
         return t.op("elemwise_add", {t.y(), t[B]}) == t[A];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {127, -127, 5, 0}}, {{2, 2}, 4, {7, -7, -7, 1}}},
          {{{2, 2}, 9, {120, -120, 12, -1}}}},
      {"the widest legal difference, whose last bit float32 loses", {},
          {{{2}, 31, {1073741823, -1073741823}}, {{2}, 31, {-1073741822, 1073741822}}},
          {{{2}, 32, {2147483645, -2147483645}}}},
  };
};

}  // namespace lockstep
