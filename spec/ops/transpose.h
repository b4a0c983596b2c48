/// @file
/// transpose: the axes in another order.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct TransposeAttrs {
  Tuple axes{};
};

struct Transpose {
  using Attrs = TransposeAttrs;
  static constexpr string_view name = "transpose";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Reorders the axes: axis j of the output is axis axes[j] of X. Without axes their order is "
      "reversed.";
  static constexpr string_view formula =
      R"(Y[i_0, \ldots, i_{N-1}] = X[x_0, \ldots, x_{N-1}], \quad x_{axes[j]} = i_j)";
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "the extents of X, reordered"}};
  static constexpr std::tuple attrs{
      Field{"axes", &Attrs::axes, kAnyInt64, "a permutation of the axes; none: reversed"}};

  /// The axis of X that becomes output axis j.
  static constexpr int source(const Attrs& a, int j, int rank) {
    return a.axes.size == 0 ? rank - 1 - j : wrap(a.axes[j], rank);
  }
  static constexpr Rule<Attrs> rules[] = {
      {"axes", "axes is empty or has N entries",
          [](const Attrs& a, Types in) { return a.axes.size == 0 || a.axes.size == in[X].rank(); }},
      {"axis", "every axis lies in -N..N-1",
          [](const Attrs& a, Types in) { return axes_in(a.axes, in[X].rank()); }},
      {"axis_twice", "no axis is listed twice",
          [](const Attrs& a, Types in) { return axes_differ(a.axes, in[X].rank()); }}};
  static constexpr Formula shape[] = {"[{X[#X - 1 - d] if #axes = 0, X[axes[d]]} for d < #X]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Type y = in[X];
    for (int j = 0; j < y.rank(); ++j) y.shape[j] = in[X].dim(source(a, j, y.rank()));
    return y;
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision());
    if (draw(0, 3) == 0) return c;
    Tuple& axes = c.attrs.axes;
    for (int d = 0; d < x.size; ++d) axes.push(d);
    for (int d = x.size - 1; d > 0; --d) std::swap(axes[d], axes[static_cast<int>(draw(0, d))]);
    for (int d = 0; d < x.size; ++d)
      if (draw(0, 3) == 3) axes[d] -= x.size;
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    Index x = y;
    for (int j = 0; j < y.size; ++j) x[source(a, j, y.size)] = y[j];
    return in[X](x);
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"inverse", "op(op(X)) with the inverse axes = X",
          [](auto& t) {
            const int n = t.type(t[X]).rank();
            Attrs back{Tuple::filled(n, 0)};
            for (int j = 0; j < n; ++j) back.axes[source(t.attrs, j, n)] = j;
            return t.self(back, {t.y()}) == t[X];
          }},
      {"as_reshape", "a row becomes a column: op(X as (1, |X|)) = X as (|X|, 1)", [](auto& t) {
         const i64 n = t.volume(t[X]);
         return t.self({}, {t.reshaped(t[X], {1, n})}) == t.reshaped(t[X], {n, 1});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"a matrix", {}, {{{2, 3}, 8, {1, 2, 3, 4, 5, 6}}}, {{{3, 2}, 8, {1, 4, 2, 5, 3, 6}}}},
      {"a rotation of three axes, which is not its own inverse", {.axes = {1, 2, 0}},
          {{{1, 2, 3}, 8, {1, 2, 3, 4, 5, 6}}}, {{{2, 3, 1}, 8, {1, 2, 3, 4, 5, 6}}}},
      {"the last axis first, counted from the back", {.axes = {-1, 0, 1}},
          {{{1, 2, 3}, 8, {1, 2, 3, 4, 5, 6}}}, {{{3, 1, 2}, 8, {1, 4, 2, 5, 3, 6}}}},
  };
};

}  // namespace lockstep
