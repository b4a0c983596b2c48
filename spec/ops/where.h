/// @file
/// where: elements or rows of one tensor or another, as a condition says.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct Where {
  using Attrs = NoAttrs;
  static constexpr string_view name = "where";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Takes the element of x where the condition is not zero, and that of y elsewhere. A "
      "condition "
      "of rank 1 decides whole rows, the positions along the first axis.";
  static constexpr string_view formula =
      R"(Y[i] = \begin{cases} x[i] & c[i] \ne 0 \\ y[i] & \text{otherwise} \end{cases},
      \quad c[i_0] \text{ where the condition has rank 1})";
  static constexpr Erratum errata[] = {
      {.text =
              "The precision is the larger one of x and y; the deployed runtime infers that of the "
              "condition.",
          .reason = "The result holds elements of x and y and none of the condition.",
          .example = "whole rows; x and y decide the precision",
          .deployed = {Deployed::differs, "condition_precision"}},
      {.text = "A condition of rank 1 selects whole rows; the deployed runtime writes a quarter of "
               "each.",
          .reason = "It copies as many bytes as a row has elements, and an element has four.",
          .example = "whole rows; x and y decide the precision",
          .deployed = {Deployed::differs, "condition_rows"}}};
  enum { Condition, X, Y };
  static constexpr Port inputs[] = {
      {"condition", {1, kMaxRank}, "as x, or (extent of the first axis of x)", Hint::flag},
      {"x", {1, kMaxRank}, "any shape"}, {"y", {1, kMaxRank}, "as x"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as x"}};
  static constexpr std::tuple<> attrs{};

  static constexpr Rule<Attrs> rules[] = {
      {"extents", "x and y have the same shape",
          [](const Attrs&, Types in) { return in[X].shape == in[Y].shape; }},
      {"condition", "the condition has the shape of x, or one element for each of its rows",
          [](const Attrs&, Types in) {
            const Shape& c = in[Condition].shape;
            return c == in[X].shape || c == Shape{in[X].dim(0)};
          }}};
  static constexpr Formula shape[] = {"x"};
  static constexpr Formula precision[] = {"max(p1, p2)"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 p = max(in[X].precision, in[Y].precision);
    return Type{in[X].shape, static_cast<int>(p)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    const Shape condition = draw.coin() ? x : Shape{x[0]};
    const int p = draw.precision(), q = draw.precision(), r = draw.precision();
    c.add(condition, p);
    c.add(x, q);
    c.add(x, r);
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    const bool whole_rows = in[Condition].rank() < y.size;
    const i64 condition = whole_rows ? in[Condition](y[0]) : in[Condition](y);
    return condition != 0 ? in[X](y) : in[Y](y);
  }
  static constexpr Law<Attrs> laws[] = {law::mirrored, law::additive<X, Y>,
      {"same", "op(condition, x, x) = x",
          [](auto& t) {
            return t.self({t[Condition], t[X], t[X]}) == t[X];
          }},
      {"complete", "op(condition, x, y) + op(condition, y, x) = x + y",
          [](auto& t) {
            return t.sum(t.y(), t.self({t[Condition], t[Y], t[X]})) == t.sum(t[X], t[Y]);
          }},
      {"arithmetic", "op(condition, x, y) = y + (|condition| > 0) * (x - y)", [](auto& t) {
         Shape rows = Shape::filled(t.type(t[X]).rank(), 1);
         rows[0] = t.shape(t[X])[0];
         Term c = t.greater(t.abs(t[Condition]), t.constant(0));
         if (t.type(c).rank() < rows.size) c = t.reshaped(c, rows);
         return t.y() == t.sum(t[Y], t.product(c, t.difference(t[X], t[Y])));
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"element by element; everything but 0 takes x", {},
          {{{2, 2}, 8, {0, 1, -1, 127}}, {{2, 2}, 8, {1, 2, 3, 4}}, {{2, 2}, 4, {-5, -6, -7, -7}}},
          {{{2, 2}, 8, {-5, 2, 3, 4}}}},
      {"whole rows; x and y decide the precision", {},
          {{{2}, 2, {0, 1}}, {{2, 2}, 4, {1, 2, 3, 4}}, {{2, 2}, 9, {5, 200, 7, 8}}},
          {{{2, 2}, 9, {5, 200, 3, 4}}}},
  };
};

}  // namespace lockstep
