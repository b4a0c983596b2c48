/// @file
/// abs: the magnitude of each element.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct Abs : Unary {
  static constexpr string_view name = "abs";
  static constexpr string_view summary =
      "Takes the magnitude of each element; the range is symmetric, so it always fits.";
  static constexpr string_view formula = R"(Y[y] = |X[y]|)";

  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return magnitude(in[X](y));
  }
  static constexpr Law<Attrs> laws[] = {law::idempotent, law::even, law::pointwise,
      {"as_max", "op(X) = max(X, -X)",
          [](auto& t) { return t.y() == t.larger(t[X], t.negative(t[X])); }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {-127, -1, 0, 127}}}, {{{2, 2}, 8, {127, 1, 0, 127}}}},
      {"the widest precision", {}, {{{2}, 32, {-2147483647, 2147483647}}},
          {{{2}, 32, {2147483647, 2147483647}}}},
  };
};

}  // namespace lockstep
