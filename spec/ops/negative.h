/// @file
/// negative: each element with its sign changed.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct Negative : Unary {
  static constexpr string_view name = "negative";
  static constexpr string_view summary =
      "Changes the sign of each element; the range is symmetric, so it always fits.";
  static constexpr string_view formula = "Y[y] = -X[y]";
  static constexpr Erratum errata[] = {
      {.text = "The output may take the storage of the input; the deployed runtime misspells the "
               "name in its list of such operators.",
          .reason = "It is an element by element operator like the others of that list.",
          .test = "Storage.NegativeIsInPlace",
          .deployed = {Deployed::refuses, "negative_in_place"}}};

  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) { return -i64{in[X](y)}; }
  static constexpr Law<Attrs> laws[] = {law::involution, law::pointwise, law::additive<X>,
      {"as_difference", "op(X) = 0 - X",
          [](auto& t) { return t.y() == t.difference(t.constant(0), t[X]); }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {-127, -1, 0, 127}}}, {{{2, 2}, 8, {127, 1, 0, -127}}}},
      {"the widest precision", {}, {{{2}, 32, {-2147483647, 2147483647}}},
          {{{2}, 32, {2147483647, -2147483647}}}},
  };
};

}  // namespace lockstep
