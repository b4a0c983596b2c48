/// @file
/// Shared by sum and max: the reduced axes, and the positions that make one output.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct ReduceAttrs {
  Tuple axis{};
  bool keepdims = false, exclude = false;
  Word dtype{};
};

struct Reduce {
  using Attrs = ReduceAttrs;
  static constexpr string_view profile = "REDUCE";
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {
      {"Y", {1, kMaxRank}, "X without the reduced axes, or with extent 1 there"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "axes to reduce; none: all of them, whatever exclude"}
          .also("axes"),
      Field{"keepdims", &Attrs::keepdims, "keep reduced axes with extent 1"},
      Field{"exclude", &Attrs::exclude, "reduce the axes that are not listed"},
      Field{"dtype", &Attrs::dtype, "accepted without effect"}.one_of("int32").ignored()};

  /// The axes that are reduced, as a bit set.
  static constexpr unsigned reduced_axes(const Attrs& a, const Type& x) {
    const unsigned all = (1u << x.rank()) - 1;
    if (a.axis.size == 0) return all;
    const unsigned listed = axis_set(a.axis, x.rank());
    return a.exclude ? all & ~listed : listed;
  }
  static constexpr Rule<Attrs> rules[] = {
      {"axis", "every axis lies in -N..N-1",
          [](const Attrs& a, Types in) { return axes_in(a.axis, in[X].rank()); }},
      {"axis_twice", "no axis is listed twice",
          [](const Attrs& a, Types in) { return axes_differ(a.axis, in[X].rank()); }}};
  /// The shape of the output.
  static constexpr Shape kept(const Attrs& a, const Type& x) {
    const unsigned r = reduced_axes(a, x);
    Shape y;
    for (int d = 0; d < x.rank(); ++d) {
      if (!(r >> d & 1))
        y.push(x.dim(d));
      else if (a.keepdims)
        y.push(1);
    }
    if (y.size == 0) y.push(1);
    return y;
  }
  static constexpr Formula shape[] = {
      "{[1] if #kept = 0, kept}; "
      "kept = {[{1 if reduced(d), X[d]} for d < #X] if keepdims, "
      "[X[d] for d < #X if not reduced(d)]}; "
      "reduced(d) = #axis = 0 or (d in axis or d - #X in axis) != exclude"};
  /// The positions of X that output y combines.
  static constexpr Box window(const Attrs& a, const Type& x, const Index& y) {
    const unsigned r = reduced_axes(a, x);
    Box box{Index::filled(x.rank(), 0), x.shape};
    for (int d = 0, e = 0; d < x.rank(); ++d) {
      if (r >> d & 1) {
        e += a.keepdims ? 1 : 0;
      } else {
        box.first[d] = y[e++];
        box.extent[d] = 1;
      }
    }
    return box;
  }
  static constexpr Law<Attrs> complement{
      "complement", "op of the listed axes = op of the others, excluded", [](auto& t) {
        Attrs a = t.attrs;
        const int n = t.type(t[X]).rank();
        const unsigned listed = axis_set(a.axis, n);
        a.axis = {};
        for (int d = 0; d < n; ++d)
          if (!(listed >> d & 1)) a.axis.push(d);
        a.exclude = !a.exclude;
        // No axes would mean all of them.
        if (listed == 0 || a.axis.size == 0) return Claim();
        return t.self(a, {t[X]}) == t.y();
      }};
  static constexpr Law<Attrs> stepwise{
      "stepwise", "op(X) = op along one axis after the other", [](auto& t) {
        const unsigned r = reduced_axes(t.attrs, t.type(t[X]));
        Term x = t[X];
        for (int d = 0; d < t.type(t[X]).rank(); ++d)
          if (r >> d & 1) x = t.self({.axis = {d}, .keepdims = true}, {x});
        return t.y() == t.reshaped(x, t.shape(t.y()));
      }};
  static constexpr Case<Attrs> reduced(Draw& draw, i64 top) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    const int p = draw.precision(top);
    c.add(x, p);
    unsigned listed = 0;
    for (i64 k = draw(0, x.size); k > 0; --k) {
      const i64 d = draw(0, x.size - 1);
      if (listed >> d & 1) continue;
      listed |= 1u << d;
      c.attrs.axis.push(draw.coin() ? d : d - x.size);
    }
    c.attrs.keepdims = draw.coin();
    c.attrs.exclude = draw(0, 2) == 2;
    return c;
  }
};

}  // namespace lockstep
