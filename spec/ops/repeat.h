/// @file
/// repeat: each slice along an axis, several times over.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct RepeatAttrs {
  i64 repeats = 0, axis = 0;
};

struct Repeat {
  using Attrs = RepeatAttrs;
  static constexpr string_view name = "repeat";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Repeats each slice along an axis; the copies follow their original.";
  static constexpr string_view formula =
      R"(Y[\ldots, d, \ldots] = X[\ldots, \lfloor d / repeats \rfloor, \ldots])";
  static constexpr Exceeds exceeds = kShape;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "X, its axis repeats times as long"}};
  static constexpr std::tuple attrs{
      Field{"repeats", &Attrs::repeats, {1, kMaxExtent}, "copies of each slice"}.required(),
      Field{"axis", &Attrs::axis, kAnyInt64, "the axis along which slices are copied"}};

  static constexpr Rule<Attrs> rules[] = {{"axis", "axis lies in -N..N-1",
      [](const Attrs& a, Types in) { return axis_in(a.axis, in[X].rank()); }}};
  static constexpr Formula shape[] = {"[{repeats * X[d] if d = axis mod #X, X[d]} for d < #X]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Type y = in[X];
    y.shape[wrap(a.axis, y.rank())] *= a.repeats;
    return y;
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank, 300);
    c.add(x, draw.precision());
    c.attrs.axis = draw(-x.size, x.size - 1);
    c.attrs.repeats = draw.extent(min(65, 600 / volume(x)));
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const int along = wrap(a.axis, y.size);
    return in[X].at([&](int d) { return d == along ? y[d] / a.repeats : y[d]; });
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"undone", "every repeats-th slice of op(X) is X",
          [](auto& t) {
            Tuple steps = Tuple::filled(t.type(t[X]).rank(), 1);
            steps[wrap(t.attrs.axis, steps.size)] = t.attrs.repeats;
            return t.every(t.y(), steps) == t[X];
          }},
      {"composed", "op(op(X)) = op(X) with repeats^2", [](auto& t) {
         return t.self({t.y()}) ==
             t.self(t.with(&Attrs::repeats, t.attrs.repeats * t.attrs.repeats));
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"rows", {.repeats = 2}, {{{2, 2}, 8, {1, 2, 3, 4}}},
          {{{4, 2}, 8, {1, 2, 1, 2, 3, 4, 3, 4}}}},
      {"columns, counted from the back", {.repeats = 3, .axis = -1}, {{{2, 1}, 8, {1, -2}}},
          {{{2, 3}, 8, {1, 1, 1, -2, -2, -2}}}},
      {"once changes nothing", {.repeats = 1}, {{{2}, 8, {1, 2}}}, {{{2}, 8, {1, 2}}}},
  };
};

}  // namespace lockstep
