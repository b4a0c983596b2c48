/// @file
/// take: elements, or slices along an axis, chosen by indices.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct TakeAttrs {
  std::optional<i64> axis{};
};

struct Take {
  using Attrs = TakeAttrs;
  static constexpr string_view name = "take";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Chooses elements of X in row-major order, or slices along an axis, by clamped indices.";
  static constexpr string_view formula =
      R"(Y[y] = X_{flat}[\mathrm{clamp}(I[y], 0, |X| - 1)], \quad
      Y[\ldots, i, \ldots] = X[\ldots, \mathrm{clamp}(I[i], 0, n_{axis} - 1), \ldots])";
  static constexpr Exceeds exceeds = kShape;
  enum { X, I };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"},
      {"indices", {1, kMaxRank}, "any shape; values are clamped", Hint::index}};
  static constexpr Port outputs[] = {
      {"Y", {1, kMaxRank}, "as indices, or X with the axis replaced by those of indices"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "the axis to take along; None: X as one row"}};

  static constexpr Rule<Attrs> rules[] = {
      {"axis", "axis is None or lies in -N..N-1", [](const Attrs& a, Types in) {
         return !a.axis.has_value() || axis_in(*a.axis, in[X].rank());
       }}};
  static constexpr Formula shape[] = {
      "{indices if axis = None, [X[d] for d < n] ++ indices ++ [X[d] for d < #X if d > n]}; "
      "n = axis mod #X"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    if (!a.axis) return Type{in[I].shape, in[X].precision};
    const int along = wrap(*a.axis, in[X].rank());
    Shape y;
    for (int d = 0; d < along; ++d) y.push(in[X].dim(d));
    for (i64 n : in[I].shape) y.push(n);
    for (int d = along + 1; d < in[X].rank(); ++d) y.push(in[X].dim(d));
    return Type{y, in[X].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const bool flat = draw(0, 2) == 0;
    const Shape x = draw.shape(1, kMaxRank, flat ? 600 : 70);
    if (!flat) c.attrs.axis = draw(-x.size, x.size - 1);
    const Shape indices = draw.shape(1, flat ? kMaxRank : kMaxRank + 1 - x.size, flat ? 600 : 70);
    const int p = draw.precision(), q = draw.precision();
    c.add(x, p);
    c.add(indices, q);
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const auto &x = in[X], &indices = in[I];
    if (!a.axis) return x.element(clamp(indices(y), 0, volume(x.shape) - 1));
    const int along = wrap(*a.axis, x.rank()), after = along + indices.rank();
    i64 k = 0;  // number of the index that y uses, in row-major order
    for (int d = along; d < after; ++d) k = k * indices.dim(d - along) + y[d];
    const i64 taken = clamp(indices.element(k), 0, x.dim(along) - 1);
    return x.at([&](int d) {
      return d < along ? y[d] : d == along ? taken : y[d - along - 1 + after];
    });
  }
  static constexpr Law<Attrs> laws[] = {law::additive<X>,
      {"identity", "op(X, all indices in order) = X",
          [](auto& t) {
            const Shape x = t.shape(t[X]);
            const auto& axis = t.attrs.axis;
            return t.self({t[X], axis ? t.series(x[wrap(*axis, x.size)]) : t.numbers(x)}) == t[X];
          }},
      {"composed", "op(op(X, J), I) = op(X, J[I]) for lists of indices",
          [](auto& t) {
            const Shape x = t.shape(t[X]);
            const auto& axis = t.attrs.axis;
            const Term j = t.indices(axis ? x[wrap(*axis, x.size)] : t.volume(t[X]));
            const Term i = t.indices(t.volume(j));
            return t.self({t.self({t[X], j}), i}) == t.self({t[X], t.elements(j, i)});
          }},
      {"as_lut", "op(X, indices) = cvm_lut(indices, X) where axis is None", [](auto& t) {
         if (t.attrs.axis) return Claim();
         return t.y() == t.op("cvm_lut", {t[I], t[X]}, {{"in_dim", {t.volume(t[X])}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"elements; indices outside are clamped", {},
          {{{2, 2}, 8, {1, 2, 3, 4}}, {{1, 4}, 8, {-5, 1, 3, 9}}}, {{{1, 4}, 8, {1, 2, 4, 4}}}},
      {"rows", {.axis = 0}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{3}, 8, {1, -7, 7}}},
          {{{3, 2}, 8, {3, 4, 1, 2, 3, 4}}}},
      {"columns, by a matrix of indices", {.axis = -1},
          {{{2, 2}, 8, {1, 2, 3, 4}}, {{2, 1}, 8, {1, 0}}}, {{{2, 2, 1}, 8, {2, 1, 4, 3}}}},
  };
};

}  // namespace lockstep
