/// @file
/// cvm_left_shift: multiplies by a power of two and clamps.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct CvmLeftShiftAttrs {
  i64 precision = 0, shift_bit = 0;
  bool is_sign = true;
};

struct CvmLeftShift : Elementwise {
  using Attrs = CvmLeftShiftAttrs;
  static constexpr string_view name = "cvm_left_shift";
  static constexpr string_view summary =
      "Multiplies each element by 2^shift_bit and clamps the product to a precision.";
  static constexpr string_view formula =
      R"(Y[y] = \max(-a, \min(a, X[y] \cdot 2^{shift\_bit})), \quad a = 2^{precision-1} - 1)";
  static constexpr Erratum errata[] = {
      {.text = "A product of more than 32 bits is the caller's fault; the deployed runtime reports "
               "its own.",
          .reason = "Types and attributes decide it, and both come from the caller.",
          .label = "width",
          .deployed = {Deployed::blames, "width"}}};
  static constexpr std::tuple attrs{
      Field{"precision", &Attrs::precision, {1, kMaxPrecision}, "of the output"}.required(),
      Field{"shift_bit", &Attrs::shift_bit, {1, 32}, "the exponent of the factor"}.required(),
      Field{"is_sign", &Attrs::is_sign, "accepted without effect"}};

  static constexpr Rule<Attrs> rules[] = {
      {"width", "the precision of X and shift_bit add up to 32 at most",
          [](const Attrs& a, Types in) { return in[X].precision + a.shift_bit <= kMaxPrecision; }}};
  static constexpr Formula precision[] = {"precision"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    return Type{in[X].shape, static_cast<int>(a.precision)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    auto c = shaped<Attrs>(draw, kMaxPrecision - 1);
    c.attrs.precision = draw.precision();
    c.attrs.shift_bit = draw(1, kMaxPrecision - c.in[X].precision);
    c.attrs.is_sign = draw.coin();
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return saturate(i64{in[X](y)} << a.shift_bit, a.precision);
  }
  static constexpr Law<Attrs> laws[] = {law::pointwise, law::monotone, law::odd,
      {"as_product", "op(X) = cvm_clip(X * 2^shift_bit)",
          [](auto& t) {
            if (t.attrs.shift_bit > 30) return Claim();
            const Term wide = t.product(t[X], t.constant(i64{1} << t.attrs.shift_bit));
            return t.y() == t.op("cvm_clip", {wide}, {{"precision", {t.attrs.precision}}});
          }},
      {"undone", "cvm_right_shift(op(X)) = X at 32 bits", [](auto& t) {
         const Attrs a = t.with(&Attrs::precision, kMaxPrecision);
         return t.op("cvm_right_shift", {t.self(a)},
                    {{"precision", {a.precision}}, {"shift_bit", {a.shift_bit}}}) == t[X];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"clamped, and not wrapped", {.precision = 8, .shift_bit = 3},
          {{{6}, 8, {-127, -16, -15, 15, 16, 127}}}, {{{6}, 8, {-127, -127, -120, 120, 127, 127}}}},
      {"nothing is lost at 32 bits", {.precision = 32, .shift_bit = 24}, {{{3}, 8, {-127, 1, 127}}},
          {{{3}, 32, {-2130706432, 16777216, 2130706432}}}},
      {"to 1 bit, which holds only 0; the sign flag has no effect",
          {.precision = 1, .shift_bit = 1, .is_sign = false}, {{{3}, 2, {-1, 0, 1}}},
          {{{3}, 1, {0, 0, 0}}}},
  };
};

}  // namespace lockstep
