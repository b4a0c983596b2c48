/// @file
/// broadcast_sub: the difference of two tensors, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastSub : Broadcast {
  static constexpr string_view name = "broadcast_sub";
  static constexpr string_view summary =
      "Subtracts B from A; their shapes align from the right, as for broadcast_add. The precision "
      "grows by one bit.";
  static constexpr string_view formula = "Y[y] = A[y_A] - B[y_B]";
  static constexpr Exceeds exceeds = kShapeAndPrecision;

  static constexpr Formula precision[] = {"max(p0, p1) + 1"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 p = max(in[A].precision, in[B].precision) + 1;
    return Type{common(in), static_cast<int>(p)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, 31); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return read(in[A], y) - read(in[B], y);
  }
  static constexpr Law<Attrs> laws[] = {law::mirrored, law::additive<A, B>, spread,
      {"as_sum", "op(A, B) = A + (-B)",
          [](auto& t) { return t.y() == t.sum(t[A], t.negative(t[B])); }},
      {"elementwise", "op(A, A') = elemwise_sub(A, A')", [](auto& t) {
         return t.self({t[A], t.other(A)}) == t.op("elemwise_sub", {t[A], t.other(A)});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"a column taken from each column", {}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{2, 1}, 8, {10, -20}}},
          {{{2, 2}, 9, {-9, -8, 23, 24}}}},
      {"a scalar less a row", {}, {{{1}, 4, {7}}, {{1, 3}, 8, {1, -2, 3}}},
          {{{1, 3}, 9, {6, 9, 4}}}},
      {"the widest legal difference", {}, {{{1}, 31, {-1073741823}}, {{1}, 31, {1073741823}}},
          {{{1}, 32, {-2147483646}}}},
  };
};

}  // namespace lockstep
