/// @file
/// sum: adds the elements along axes.
#pragma once
#include "spec/reduce.h"

namespace lockstep {

struct Sum : Reduce {
  static constexpr string_view name = "sum";
  static constexpr string_view summary =
      "Adds the elements along the given axes. The precision grows by the bit length of the number "
      "of elements that meet in one output, also when nothing is reduced.";
  static constexpr string_view formula = R"(Y[y] = \sum_{x \in X : x|_{kept} = y} X[x])";
  static constexpr Exceeds exceeds = kPrecision;

  static constexpr Formula precision[] = {"p0 + bl(|X| / |Y|)"};
  static constexpr Formula accumulator = "bl(|X| / |Y| * a(p0)) + 1";
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Shape y = kept(a, in[X]);
    return Type{y, in[X].precision + bit_length(volume(in[X].shape) / volume(y))};
  }
  static constexpr Gas<Attrs> gas{"|X| / |Y|",
      [](const Attrs& a, Types in) { return volume(in[X].shape) / volume(kept(a, in[X])); }};
  static constexpr Case<Attrs> domain(Draw& draw) { return reduced(draw, 22); }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return sum_over(window(a, in[X], y), [&](const Index& x) { return i64{in[X](x)}; });
  }
  static constexpr Law<Attrs> laws[] = {law::additive<X>, law::mirrored, complement, stepwise,
      {"as_dense", "op along the last axis = dense with ones, at 8 bits", [](auto& t) {
         if (t.type(t[X]).precision > 8) return Claim();
         const Term y = t.self({.axis = {-1}}, {t[X]});
         const i64 m = t.volume(y), n = t.volume(t[X]) / m;
         const Terms in{t.reshaped(t[X], {m, n}), t.filled({1, n}, 1)};
         return t.reshaped(y, {m, 1}) == t.op("dense", in, {{"units", {1}}, {"use_bias", {0}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"rows", {.axis = {1}}, {{{2, 2}, 8, {1, 2, 3, 4}}}, {{{2}, 10, {3, 7}}}},
      {"everything, axes kept", {.keepdims = true}, {{{2, 2}, 8, {1, 2, 3, -4}}},
          {{{1, 1}, 11, {2}}}},
      {"every axis excluded: the identity, one bit wider", {.axis = {0, -1}, .exclude = true},
          {{{1, 2}, 8, {5, -6}}}, {{{1, 2}, 9, {5, -6}}}},
      {"the middle one of three axes", {.axis = {1}},
          {{{3, 3, 2}, 8, {1, 2, 2, 3, 1, 3, 1, 4, 4, 3, 5, 2, 7, 1, 7, 2, 7, 3}}},
          {{{3, 2}, 10, {4, 8, 10, 9, 21, 6}}}},
      {"the last two of three axes", {.axis = {1, 2}},
          {{{3, 3, 2}, 8, {1, 2, 2, 3, 1, 3, 1, 4, 4, 3, 5, 2, 7, 1, 7, 2, 7, 3}}},
          {{{3}, 11, {12, 19, 27}}}},
  };
};

}  // namespace lockstep
