/// @file
/// squeeze: axes of extent 1 dropped.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct SqueezeAttrs {
  Tuple axis{};
};

struct Squeeze {
  using Attrs = SqueezeAttrs;
  static constexpr string_view name = "squeeze";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Drops the listed axes, which have extent 1, or every axis of extent 1. Where nothing "
      "remains "
      "the shape is (1).";
  static constexpr string_view formula = "Y_{flat}[k] = X_{flat}[k]";
  static constexpr bool in_place = true;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "X without the dropped axes"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "axes to drop; none: all of extent 1"}.also("axes")};

  static constexpr bool is_dropped(const Attrs& a, const Type& x, int d) {
    if (a.axis.size == 0) return x.dim(d) == 1;
    return axis_set(a.axis, x.rank()) >> d & 1;
  }
  static constexpr Rule<Attrs> rules[] = {
      {"axis", "every axis lies in -N..N-1",
          [](const Attrs& a, Types in) { return axes_in(a.axis, in[X].rank()); }},
      {"extent", "every listed axis has extent 1", [](const Attrs& a, Types in) {
         for (i64 d : a.axis)
           if (in[X].dim(wrap(d, in[X].rank())) != 1) return false;
         return true;
       }}};
  static constexpr Formula shape[] = {
      "{[1] if #kept = 0, kept}; "
      "kept = [X[d] for d < #X if not dropped(d)]; "
      "dropped(d) = {X[d] = 1 if #axis = 0, d in axis or d - #X in axis}"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Type& x = in[X];
    Shape y;
    for (int d = 0; d < x.rank(); ++d)
      if (!is_dropped(a, x, d)) y.push(x.dim(d));
    if (y.size == 0) y.push(1);
    return Type{y, x.precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    Shape x = draw.shape(1, kMaxRank);
    for (int d = 0; d < x.size; ++d)
      if (draw.coin()) x[d] = 1;
    c.add(x, draw.precision());
    const bool all = draw(0, 2) == 0;
    for (int d = 0; d < x.size && !all; ++d)
      for (i64 k = x[d] == 1 ? draw(0, 2) : 0; k > 0; --k)
        c.attrs.axis.push(draw.coin() ? d : d - x.size);
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const auto& x = in[X];
    int kept = 0;
    return x.at([&](int d) { return is_dropped(a, x, d) ? 0 : y[kept++]; });
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"as_reshape", "op(X) = reshape(X)",
          [](auto& t) { return t.y() == t.reshaped(t[X], t.shape(t.y())); }},
      {"undoes", "op(expand_dims(X)) of the new axis = X", [](auto& t) {
         const i64 n = t.type(t[X]).rank(), axis = t.draw(0, n);
         if (n == kMaxRank) return Claim();
         return t.self({.axis = {axis}}, {t.op("expand_dims", {t[X]}, {{"axis", {axis}}})}) == t[X];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"every axis of extent 1", {}, {{{1, 2, 1}, 8, {3, 4}}}, {{{2}, 8, {3, 4}}}},
      {"the last only; listed twice is once", {.axis = {2, -1}}, {{{1, 2, 1}, 8, {3, 4}}},
          {{{1, 2}, 8, {3, 4}}}},
      {"nothing remains but one element", {}, {{{1, 1}, 8, {7}}}, {{{1}, 8, {7}}}},
  };
};

}  // namespace lockstep
