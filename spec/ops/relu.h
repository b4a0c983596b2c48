/// @file
/// relu: negative elements become zero.
#pragma once
#include "spec/op.h"

namespace lockstep {

struct Relu {
  using Attrs = NoAttrs;
  static constexpr string_view name = "relu";
  static constexpr string_view profile = "ELEM";
  static constexpr string_view summary = "Replaces negative elements by zero.";
  static constexpr string_view formula = R"(Y[y] = \max(X[y], 0))";
  static constexpr bool in_place = true;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as X"}};
  static constexpr std::tuple<> attrs{};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Inferred infer(const Attrs&, Types in) { return in[X]; }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision());
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) { return max(in[X](y), 0); }
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{2, 2}, 8, {-127, -1, 0, 127}}}, {{{2, 2}, 8, {0, 0, 0, 127}}}},
      {"the widest precision",
       {},
       {{{2}, 32, {-2147483647, 2147483647}}},
       {{{2}, 32, {0, 2147483647}}}},
  };
};

}  // namespace lockstep
