/// @file
/// cvm_clip: clamps to a precision.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct CvmClipAttrs {
  i64 precision = 0;
  bool is_sign = true;
};

struct CvmClip : Elementwise {
  using Attrs = CvmClipAttrs;
  static constexpr string_view name = "cvm_clip";
  static constexpr string_view alias = "cvm_cilp";
  static constexpr string_view summary =
      "Clamps each element to the symmetric range of a precision.";
  static constexpr string_view formula =
      R"(Y[y] = \max(-a, \min(a, X[y])), \quad a = 2^{precision-1} - 1)";
  static constexpr std::tuple attrs{
      Field{"precision", &Attrs::precision, {1, kMaxPrecision}, "of the output"}.required(),
      Field{"is_sign", &Attrs::is_sign, "accepted without effect"}};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula precision[] = {"precision"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    return Type{in[X].shape, static_cast<int>(a.precision)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    auto c = shaped<Attrs>(draw);
    c.attrs.precision = draw.precision();
    c.attrs.is_sign = draw.coin();
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return saturate(in[X](y), a.precision);
  }
  static constexpr Law<Attrs> laws[] = {law::idempotent, law::pointwise, law::monotone, law::odd,
      {"as_clip", "op(X) = clip(X) to the range of 2..31 bits", [](auto& t) {
         if (t.attrs.precision < 2 || t.attrs.precision > 31) return Claim();
         const i64 most = max_of(t.attrs.precision);
         return t.y() == t.op("clip", {t[X]}, {{"a_min", {-most}}, {"a_max", {most}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"to 8 bits", {.precision = 8}, {{{5}, 32, {-2147483647, -128, -127, 127, 128}}},
          {{{5}, 8, {-127, -127, -127, 127, 127}}}},
      {"to 1 bit, which holds only 0; the sign flag has no effect",
          {.precision = 1, .is_sign = false}, {{{3}, 8, {-1, 0, 1}}}, {{{3}, 1, {0, 0, 0}}}},
  };
};

}  // namespace lockstep
