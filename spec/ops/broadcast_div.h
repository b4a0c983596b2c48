/// @file
/// broadcast_div: the truncated quotient of two tensors, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastDiv : Broadcast {
  static constexpr string_view name = "broadcast_div";
  static constexpr string_view summary =
      "Divides A by B, truncating toward zero; a quotient by zero is zero. The shapes align from "
      "the "
      "right, as for broadcast_add, and the precision is that of A.";
  static constexpr string_view formula = R"(Y[y] = \begin{cases} 0 & B[y_B] = 0 \\
      \mathrm{sgn}(q) \lfloor |q| \rfloor, \; q = A[y_A] / B[y_B] & \text{otherwise} \end{cases})";
  static constexpr Exceeds exceeds = kShape;

  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{common(in), in[A].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, kMaxPrecision); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    const i64 divisor = read(in[B], y);
    return divisor == 0 ? 0 : read(in[A], y) / divisor;
  }
  static constexpr Law<Attrs> laws[] = {law::mirrored, law::odd, spread,
      {"undoes", "op(A * B, B) = A, and 0 where B is 0",
          [](auto& t) {
            const Term divides = t.greater(t.abs(t[B]), t.constant(0));
            return t.self({t.product(t[A], t[B]), t[B]}) == t.product(t[A], divides);
          }},
      {"remainder", "|A - B * op(A, B)| < |B| where B is not 0", [](auto& t) {
         const Term rest = t.abs(t.difference(t[A], t.product(t[B], t.y()))), b = t.abs(t[B]);
         return t.greater(b, rest) == t.greater(b, t.filled(t.shape(rest), 0));
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"toward zero, whatever the signs", {}, {{{2, 2}, 8, {7, -7, 7, -7}}, {{2, 1}, 8, {2, -2}}},
          {{{2, 2}, 8, {3, -3, -3, 3}}}},
      {"by zero", {}, {{{3}, 32, {2147483647, 0, -2147483647}}, {{1}, 1, {0}}},
          {{{3}, 32, {0, 0, 0}}}},
      {"the dividend decides the precision", {}, {{{2}, 4, {7, -7}}, {{2}, 32, {2147483647, -1}}},
          {{{2}, 4, {0, 7}}}},
  };
};

}  // namespace lockstep
