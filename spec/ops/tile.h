/// @file
/// tile: a tensor laid side by side with itself.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct TileAttrs {
  Tuple reps{};
};

struct Tile {
  using Attrs = TileAttrs;
  static constexpr string_view name = "tile";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Lays copies of a tensor side by side. reps and the shape align from the right; where one is "
      "shorter it counts as 1.";
  static constexpr string_view formula =
      R"(Y[\ldots, k_d, \ldots] = X[\ldots, k_d \bmod n_d, \ldots])";
  static constexpr Exceeds exceeds = kShape;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "extents times reps"}};
  static constexpr std::tuple attrs{
      Field{"reps", &Attrs::reps, {1, 4096}, "copies along each of the last axes"}
          .length(1, kMaxTuple)
          .required()};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula shape[] = {"[X[d - n] * reps[d - n] for d < n]; n = max(#X, #reps)"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Type& x = in[X];
    const int rank = x.rank() > a.reps.size ? x.rank() : a.reps.size;
    const int fewer_extents = rank - x.rank(), fewer_reps = rank - a.reps.size;
    Shape y;
    for (int d = 0; d < rank; ++d) {
      const i64 extent = d < fewer_extents ? 1 : x.dim(d - fewer_extents);
      y.push(d < fewer_reps ? extent : extent * a.reps[d - fewer_reps]);
    }
    return Type{y, x.precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank, 200);
    c.add(x, draw.precision());
    i64 most = 800 / volume(x);
    for (i64 k = draw(1, kMaxRank); k > 0; --k) {
      const i64 copies = draw(1, min(most, draw(0, 5) == 5 ? 17 : 3));
      c.attrs.reps.push(copies);
      most /= copies;
    }
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    const auto& x = in[X];
    return x.at([&](int d) { return y[d + y.size - x.rank()] % x.dim(d); });
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"corner", "op(X) begins with X",
          [](auto& t) {
            const Shape x = t.shape(t[X]);
            Shape first = Shape::filled(t.type(t.y()).rank() - x.size, 1);
            for (i64 n : x) first.push(n);
            return t.corner(t.y(), first) == t.reshaped(t[X], first);
          }},
      {"twice", "op(X) with reps (2) = concatenate(X, X) along the last axis", [](auto& t) {
         return t.self({.reps = {2}}, {t[X]}) ==
             t.op("concatenate", {t[X], t[X]}, {{"axis", {-1}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"along the last axis", {.reps = {2}}, {{{2, 2}, 8, {1, 2, 3, 4}}},
          {{{2, 4}, 8, {1, 2, 1, 2, 3, 4, 3, 4}}}},
      {"more reps than axes: a new axis in front", {.reps = {2, 1, 1}}, {{{1, 3}, 8, {1, -2, 3}}},
          {{{2, 1, 3}, 8, {1, -2, 3, 1, -2, 3}}}},
      {"both axes", {.reps = {2, 2}}, {{{1, 2}, 8, {5, 6}}},
          {{{2, 4}, 8, {5, 6, 5, 6, 5, 6, 5, 6}}}},
  };
};

}  // namespace lockstep
