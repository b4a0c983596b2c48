/// @file
/// cvm_right_shift: divides by a power of two, rounds to nearest and clamps.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct CvmRightShiftAttrs {
  i64 precision = 0, shift_bit = 0;
  bool is_sign = true;
};

struct CvmRightShift : Elementwise {
  using Attrs = CvmRightShiftAttrs;
  static constexpr string_view name = "cvm_right_shift";
  static constexpr string_view summary =
      "Divides each element by 2^shift_bit, rounds to the nearest integer, ties toward plus "
      "infinity, and clamps the result to a precision.";
  static constexpr string_view formula =
      R"(Y[y] = \max(-a, \min(a, \lfloor (\lfloor X[y] / 2^{s-1} \rfloor + 1) / 2 \rfloor)),
      \quad s = shift\_bit, \; a = 2^{precision-1} - 1)";
  static constexpr Erratum errata[] = {
      {.text =
              "2^31 - 1 shifted by 1 is 2^30; in the deployed runtime the addition of the rounding "
              "bit wraps.",
          .reason = "Rounding is exact over the integers; a wrapped sum is undefined in C.",
          .example = "the rounding bit does not wrap",
          .deployed = {Deployed::differs, "rounding"}}};
  static constexpr std::tuple attrs{
      Field{"precision", &Attrs::precision, {1, kMaxPrecision}, "of the output"}.required(),
      Field{"shift_bit", &Attrs::shift_bit, {1, 32}, "the exponent of the divisor"}.required(),
      Field{"is_sign", &Attrs::is_sign, "accepted without effect"}};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula precision[] = {"precision"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    return Type{in[X].shape, static_cast<int>(a.precision)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    auto c = shaped<Attrs>(draw);
    c.attrs.precision = draw.precision();
    // Shifts beyond the precision of X give only 0.
    c.attrs.shift_bit = draw.coin() ? draw(1, c.in[X].precision) : draw(1, 32);
    c.attrs.is_sign = draw.coin();
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const i64 halves = floor_shift(in[X](y), a.shift_bit - 1);
    return saturate(floor_shift(halves + 1, 1), a.precision);
  }
  static constexpr Law<Attrs> laws[] = {law::pointwise, law::monotone,
      {"translated", "op(X + k * 2^shift_bit) = op(X) + k where no bit is lost",
          [](auto& t) {
            const i64 s = t.attrs.shift_bit, k = t.draw(-3, 3);
            if (s > 27) return Claim();
            // 31 bits hold each quotient, and leave room for k.
            const Attrs a = t.with(&Attrs::precision, 31);
            return t.self(a, {t.sum(t[X], t.constant(k << s))}) == t.sum(t.self(a), t.constant(k));
          }},
      {"as_quotient", "op(X) = cvm_clip((X + 2^(shift_bit-1)) div 2^shift_bit) where X >= 0",
          [](auto& t) {
            if (t.attrs.shift_bit > 30) return Claim();
            const i64 n = i64{1} << t.attrs.shift_bit;
            const Term x = t.op("relu", {t[X]});
            const Term quotient =
                t.op("broadcast_div", {t.sum(x, t.constant(n / 2)), t.constant(n)});
            return t.self({x}) ==
                t.op("cvm_clip", {quotient}, {{"precision", {t.attrs.precision}}});
          }}};
  static constexpr Example<Attrs> examples[] = {
      {"ties go up", {.precision = 8, .shift_bit = 1}, {{{6}, 8, {-3, -2, -1, 1, 2, 3}}},
          {{{6}, 8, {-1, -1, 0, 1, 1, 2}}}},
      {"the rounding bit does not wrap", {.precision = 32, .shift_bit = 1},
          {{{2}, 32, {2147483647, -2147483647}}}, {{{2}, 32, {1073741824, -1073741823}}}},
      {"clamped after rounding", {.precision = 4, .shift_bit = 2}, {{{4}, 8, {29, 30, -30, -127}}},
          {{{4}, 4, {7, 7, -7, -7}}}},
      {"everything shifted out", {.precision = 8, .shift_bit = 32},
          {{{3}, 32, {2147483647, -2147483647, -1}}}, {{{3}, 8, {0, 0, 0}}}},
  };
};

}  // namespace lockstep
