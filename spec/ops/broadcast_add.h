/// @file
/// broadcast_add: the sum of two tensors, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastAdd : Broadcast {
  static constexpr string_view name = "broadcast_add";
  static constexpr string_view summary =
      "Adds two tensors whose shapes align from the right: an extent of 1, or an axis that the "
      "shorter shape lacks, is repeated. The precision grows by one bit.";
  static constexpr string_view formula = "Y[y] = A[y_A] + B[y_B]";
  static constexpr Exceeds exceeds = kShapeAndPrecision;

  static constexpr Formula precision[] = {"max(p0, p1) + 1"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 p = max(in[A].precision, in[B].precision) + 1;
    return Type{common(in), static_cast<int>(p)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, 31); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return read(in[A], y) + read(in[B], y);
  }
  static constexpr Law<Attrs> laws[] = {law::commutative, law::associative, law::mirrored,
      law::additive<A, B>, spread,
      {"elementwise", "op(A, A') = elemwise_add(A, A')", [](auto& t) {
         return t.self({t[A], t.other(A)}) == t.op("elemwise_add", {t[A], t.other(A)});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"a row added to each row", {}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{2}, 8, {10, -20}}},
          {{{2, 2}, 9, {11, -18, 13, -16}}}},
      {"a column and a row", {}, {{{2, 1}, 8, {100, -100}}, {{1, 3}, 4, {1, 2, 3}}},
          {{{2, 3}, 9, {101, 102, 103, -99, -98, -97}}}},
      {"the widest legal sum", {}, {{{1}, 31, {1073741823}}, {{1, 1}, 31, {1073741823}}},
          {{{1, 1}, 32, {2147483646}}}},
      {"a column added to each column", {}, {{{2, 3}, 8, {1, 1, 1, 1, 1, 1}}, {{2, 1}, 8, {0, 1}}},
          {{{2, 3}, 9, {1, 1, 1, 2, 2, 2}}}},
  };
};

}  // namespace lockstep
