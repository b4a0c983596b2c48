/// @file
/// flatten: a tensor as a matrix, one row per position of the first axis.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct Flatten {
  using Attrs = NoAttrs;
  static constexpr string_view name = "flatten";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Joins all axes but the first. A tensor of rank 1 becomes a column.";
  static constexpr string_view formula = R"(Y[i, j] = X[i, \ldots], \quad j \text{ row-major})";
  static constexpr Exceeds exceeds = kShape;
  static constexpr bool in_place = true;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {2, 2}, "(d0, product of the other extents)"}};
  static constexpr std::tuple<> attrs{};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula shape[] = {"[X[0], |X| / X[0]]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 rows = in[X].dim(0);
    return Type{{rows, volume(in[X].shape) / rows}, in[X].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision());
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y, const Type& t) {
    return in[X].element(ravel(y, t.shape));
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored, law::batchwise<X>,
      law::idempotent, {"as_reshape", "op(X) = reshape(X, (0, -1))", [](auto& t) {
                          return t.y() == t.op("reshape", {t[X]}, {{"shape", {0, -1}}});
                        }}};
  static constexpr Example<Attrs> examples[] = {
      {"the last two axes join", {}, {{{2, 2, 2}, 8, {1, 2, 3, 4, 5, 6, 7, 8}}},
          {{{2, 4}, 8, {1, 2, 3, 4, 5, 6, 7, 8}}}},
      {"a vector becomes a column", {}, {{{3}, 5, {1, -2, 3}}}, {{{3, 1}, 5, {1, -2, 3}}}},
  };
};

}  // namespace lockstep
