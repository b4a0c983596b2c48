/// @file
/// max: the largest element along axes.
#pragma once
#include "spec/reduce.h"

namespace lockstep {

struct Max : Reduce {
  static constexpr string_view name = "max";
  static constexpr string_view summary =
      "Takes the largest element along the given axes. The precision stays.";
  static constexpr string_view formula = R"(Y[y] = \max_{x \in X : x|_{kept} = y} X[x])";
  static constexpr Erratum errata[] = {
      {.text = "The maximum of negative numbers is negative; reducing all axes, the deployed "
               "runtime gives 0.",
          .reason = "A maximum is one of the elements, whichever axes are reduced.",
          .example = "everything, all of it negative",
          .deployed = {Deployed::differs, "maximum"}}};

  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    return Type{kept(a, in[X]), in[X].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return reduced(draw, kMaxPrecision); }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return max_over(window(a, in[X], y), [&](const Index& x) { return i64{in[X](x)}; });
  }
  static constexpr Law<Attrs> laws[] = {law::monotone, law::mirrored, complement, stepwise,
      {"as_broadcast", "op of X beside X' = max(X, X')", [](auto& t) {
         const Shape row{1, t.volume(t[X])};
         const Term x = t.reshaped(t[X], row), other = t.reshaped(t.other(X), row);
         const Term pair = t.beside(x, other, 0);
         return t.self({.axis = {0}, .keepdims = true}, {pair}) == t.larger(x, other);
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"everything, all of it negative", {}, {{{2, 2}, 8, {-5, -2, -9, -3}}}, {{{1}, 8, {-2}}}},
      {"columns, the axis kept", {.axis = {-2}, .keepdims = true},
          {{{2, 3}, 8, {1, 5, -3, 4, 2, -7}}}, {{{1, 3}, 8, {4, 5, -3}}}},
      {"all but the listed axis", {.axis = {0}, .exclude = true},
          {{{2, 2}, 32, {-2147483647, 2147483647, -1, -2}}}, {{{2}, 32, {2147483647, -1}}}},
      {"every axis excluded: the identity", {.axis = {0, -1}, .exclude = true},
          {{{1, 2}, 8, {5, -6}}}, {{{1, 2}, 8, {5, -6}}}},
  };
};

}  // namespace lockstep
