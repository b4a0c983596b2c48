/// @file
/// broadcast_max: the larger of two elements, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastMax : Broadcast {
  static constexpr string_view name = "broadcast_max";
  static constexpr string_view summary =
      "Takes the larger of two elements; the shapes align from the right, as for broadcast_add. "
      "The "
      "precision is the larger one.";
  static constexpr string_view formula = R"(Y[y] = \max(A[y_A], B[y_B]))";
  static constexpr Exceeds exceeds = kShape;

  static constexpr Formula precision[] = {"max(p0, p1)"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 p = max(in[A].precision, in[B].precision);
    return Type{common(in), static_cast<int>(p)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, kMaxPrecision); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return max(read(in[A], y), read(in[B], y));
  }
  static constexpr Law<Attrs> laws[] = {law::commutative, law::associative, law::mirrored,
      law::monotone, spread,
      {"as_relu", "op(A, B) = B + relu(A - B)",
          [](auto& t) { return t.y() == t.sum(t[B], t.op("relu", {t.difference(t[A], t[B])})); }}};
  static constexpr Example<Attrs> examples[] = {
      {"not below a row", {}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{2}, 8, {2, -20}}},
          {{{2, 2}, 8, {2, 2, 3, 4}}}},
      {"neighbours that no float32 tells apart", {},
          {{{2, 1}, 32, {2147483646, -2147483647}}, {{1, 2}, 32, {2147483647, -2147483646}}},
          {{{2, 2}, 32, {2147483647, 2147483646, 2147483647, -2147483646}}}},
  };
};

}  // namespace lockstep
