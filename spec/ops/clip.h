/// @file
/// clip: clamps to two bounds.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct ClipAttrs {
  i64 a_min = 0, a_max = 0;
};

struct Clip : Elementwise {
  using Attrs = ClipAttrs;
  static constexpr string_view name = "clip";
  static constexpr string_view summary =
      "Clamps each element to a_min..a_max. The bounds alone decide the precision, one bit more "
      "than the wider one needs; a bound of 2^31 - 1 or its negative would infer 33 bits.";
  static constexpr string_view formula = R"(Y[y] = \max(a\_min, \min(a\_max, X[y])))";
  static constexpr Exceeds exceeds = kPrecision;
  static constexpr std::tuple attrs{
      Field{"a_min", &Attrs::a_min, {-kIntMax, kIntMax}, "the smallest result"}.required(),
      Field{"a_max", &Attrs::a_max, {-kIntMax, kIntMax}, "the largest result"}.required()};

  static constexpr Rule<Attrs> rules[] = {
      {"bounds", "a_min < a_max", [](const Attrs& a, Types) { return a.a_min < a.a_max; }}};
  static constexpr Formula precision[] = {"bl(max(|a_min|, |a_max|) + 1) + 1"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const i64 widest = max(magnitude(a.a_min), magnitude(a.a_max));
    return Type{in[X].shape, bit_length(widest + 1) + 1};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    auto c = shaped<Attrs>(draw);
    // Bounds among the values of X, or just beyond them, or near zero.
    const i64 beyond = min(max_of(c.in[X].precision) + 2, kIntMax - 1);
    const i64 far = draw.coin() ? beyond : min(beyond, 8);
    c.attrs.a_min = draw(-far, far - 1);
    c.attrs.a_max = draw(c.attrs.a_min + 1, far);
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return clamp(in[X](y), a.a_min, a.a_max);
  }
  static constexpr Law<Attrs> laws[] = {law::idempotent, law::pointwise, law::monotone,
      {"as_max", "op(X) = -max(-max(X, a_min), -a_max)", [](auto& t) {
         const Term above = t.larger(t[X], t.constant(t.attrs.a_min));
         return t.y() == t.negative(t.larger(t.negative(above), t.constant(-t.attrs.a_max)));
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"to two bounds; 127 + 1 has 8 bits", {.a_min = -3, .a_max = 127},
          {{{5}, 32, {-2147483647, -3, 5, 127, 128}}}, {{{5}, 9, {-3, -3, 5, 127, 127}}}},
      {"both bounds below zero", {.a_min = -5, .a_max = -2}, {{{2, 2}, 4, {7, -2, -4, -7}}},
          {{{2, 2}, 4, {-2, -2, -4, -5}}}},
      {"the widest legal bounds", {.a_min = -2147483646, .a_max = 2147483646},
          {{{3}, 32, {-2147483647, 2147483645, 2147483647}}},
          {{{3}, 32, {-2147483646, 2147483645, 2147483646}}}},
  };
};

}  // namespace lockstep
