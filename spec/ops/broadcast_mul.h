/// @file
/// broadcast_mul: the product of two tensors, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastMul : Broadcast {
  static constexpr string_view name = "broadcast_mul";
  static constexpr string_view summary =
      "Multiplies two tensors element by element; their shapes align from the right, as for "
      "broadcast_add. The precisions add up.";
  static constexpr string_view formula = R"(Y[y] = A[y_A] \cdot B[y_B])";
  static constexpr Exceeds exceeds = kShapeAndPrecision;

  static constexpr Formula precision[] = {"p0 + p1"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{common(in), in[A].precision + in[B].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, 31, kMaxPrecision); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return read(in[A], y) * read(in[B], y);
  }
  static constexpr Law<Attrs> laws[] = {law::commutative, law::associative, law::mirrored, law::odd,
      law::additive<A>, spread,
      {"neutral", "op(A, 1) = A",
          [](auto& t) {
            return t.self({t[A], t.constant(1)}) == t[A];
          }},
      {"outer", "a column times a row is their dense product, at 8 bits", [](auto& t) {
         if (t.type(t[A]).precision > 8 || t.type(t[B]).precision > 8) return Claim();
         const i64 m = t.volume(t[A]), n = t.volume(t[B]);
         const Term column = t.reshaped(t[A], {m, 1}), row = t.reshaped(t[B], {1, n});
         return t.self({column, row}) ==
             t.op("dense", {column, t.reshaped(t[B], {n, 1})}, {{"units", {n}}, {"use_bias", {0}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"each row scaled", {}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{2}, 8, {10, -20}}},
          {{{2, 2}, 16, {10, -40, 30, -80}}}},
      {"a product past 2^24", {}, {{{1}, 16, {32767}}, {{1, 2}, 16, {32767, -32767}}},
          {{{1, 2}, 32, {1073676289, -1073676289}}}},
  };
};

}  // namespace lockstep
