/// @file
/// expand_dims: new axes of extent 1.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct ExpandDimsAttrs {
  i64 axis = 0, num_newaxis = 1;
};

struct ExpandDims {
  using Attrs = ExpandDimsAttrs;
  static constexpr string_view name = "expand_dims";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Inserts axes of extent 1 before an axis, or behind the last one. A negative axis counts "
      "from "
      "behind the last.";
  static constexpr string_view formula = "Y_{flat}[k] = X_{flat}[k]";
  static constexpr Exceeds exceeds = kShape;
  static constexpr bool in_place = true;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {2, kMaxRank}, "X with axes of extent 1"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "where they are inserted"}.required(),
      Field{"num_newaxis", &Attrs::num_newaxis, {1, 4096}, "how many"}};

  static constexpr Rule<Attrs> rules[] = {{"axis", "axis lies in -N-1..N",
      [](const Attrs& a, Types in) { return axis_in(a.axis, in[X].rank() + 1); }}};
  static constexpr Formula shape[] = {
      "[X[d] for d < n] ++ [1 for d < num_newaxis] ++ [X[d] for d < #X if d >= n]; "
      "n = axis mod (#X + 1)"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Type& x = in[X];
    const int before = wrap(a.axis, x.rank() + 1);
    Shape y;
    for (int d = 0; d < before; ++d) y.push(x.dim(d));
    for (i64 k = 0; k < a.num_newaxis; ++k) y.push(1);
    for (int d = before; d < x.rank(); ++d) y.push(x.dim(d));
    return Type{y, x.precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank - 1);
    c.add(x, draw.precision());
    c.attrs.axis = draw(-x.size - 1, x.size);
    c.attrs.num_newaxis = draw(1, kMaxRank - x.size);
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const auto& x = in[X];
    const int before = wrap(a.axis, x.rank() + 1), added = y.size - x.rank();
    return x.at([&](int d) { return y[d < before ? d : d + added]; });
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"as_reshape", "op(X) = reshape(X)",
          [](auto& t) { return t.y() == t.reshaped(t[X], t.shape(t.y())); }},
      {"undone", "squeeze(op(X)) of the new axes = X", [](auto& t) {
         Tuple axes;
         for (i64 k = 0; k < t.attrs.num_newaxis; ++k)
           axes.push(wrap(t.attrs.axis, t.type(t[X]).rank() + 1) + k);
         return t.op("squeeze", {t.y()}, {{"axis", axes}}) == t[X];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"in front", {.axis = 0}, {{{2}, 8, {1, 2}}}, {{{1, 2}, 8, {1, 2}}}},
      {"two behind the last", {.axis = -1, .num_newaxis = 2}, {{{2, 2}, 8, {1, 2, 3, 4}}},
          {{{2, 2, 1, 1}, 8, {1, 2, 3, 4}}}},
      {"between", {.axis = 1}, {{{2, 2}, 8, {1, 2, 3, 4}}}, {{{2, 1, 2}, 8, {1, 2, 3, 4}}}},
  };
};

}  // namespace lockstep
