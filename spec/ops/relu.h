/// @file
/// relu: negative elements become zero.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct Relu : Unary {
  static constexpr string_view name = "relu";
  static constexpr string_view summary = "Replaces negative elements by zero.";
  static constexpr string_view formula = R"(Y[y] = \max(X[y], 0))";

  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) { return max(in[X](y), 0); }
  static constexpr Law<Attrs> laws[] = {law::idempotent, law::pointwise, law::monotone,
      {"as_max", "op(X) = max(X, 0)",
          [](auto& t) { return t.y() == t.larger(t[X], t.constant(0)); }},
      {"halves", "op(X) - op(-X) = X",
          [](auto& t) { return t.difference(t.y(), t.self({t.negative(t[X])})) == t[X]; }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {-127, -1, 0, 127}}}, {{{2, 2}, 8, {0, 0, 0, 127}}}},
      {"the widest precision", {}, {{{2}, 32, {-2147483647, 2147483647}}},
          {{{2}, 32, {0, 2147483647}}}},
  };
};

}  // namespace lockstep
