/// @file
/// triple: three times each element. An operator that only cmake/new_operator/test.sh adds.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct Triple {
  using Attrs = NoAttrs;
  static constexpr string_view name = "triple";
  static constexpr string_view profile = "ELEM";
  static constexpr string_view summary = "Multiplies each element by three.";
  static constexpr string_view formula = R"(Y[y] = 3 X[y])";
  static constexpr Exceeds exceeds = kPrecision;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as X"}};
  static constexpr std::tuple<> attrs{};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula shape[] = {"X"};
  static constexpr Formula precision[] = {"p0 + 2"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{in[X].shape, in[X].precision + 2};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision(kMaxPrecision - 2));
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) { return 3 * in[X](y); }
  static constexpr Law<Attrs> laws[] = {law::pointwise, law::monotone,
      {"as_product", "op(X) = 3 * X",
          [](auto& t) { return t.y() == t.product(t[X], t.constant(3)); }}};
  static constexpr Example<Attrs> examples[] = {
      {"signs", {}, {{{3}, 8, {-127, 0, 42}}}, {{{3}, 10, {-381, 0, 126}}}},
  };
};

}  // namespace lockstep
