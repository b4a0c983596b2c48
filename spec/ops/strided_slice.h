/// @file
/// strided_slice: every step-th element between two ends, axis by axis.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct StridedSliceAttrs {
  Tuple begin{0}, end{1}, stride{};
};

struct StridedSlice {
  using Attrs = StridedSliceAttrs;
  static constexpr string_view name = "strided_slice";
  static constexpr string_view alias = "slice";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Keeps, on each axis, the elements from begin on in steps of stride, short of end. Where a "
      "list has no entry for an axis, begin is 0, end is the extent and stride is 1.";
  static constexpr string_view formula =
      R"(Y[\ldots, y_d, \ldots] = X[\ldots, b(d) + stride_d \cdot y_d, \ldots])";
  static constexpr Erratum errata[] = {
      {.text = "begin, end and stride are no longer than the rank; the deployed runtime accepts "
               "longer ones, and reads out of bounds.",
          .reason = "Reading beyond a shape has no outcome that all machines share.",
          .label = "length",
          .deployed = {Deployed::accepts, "lengths"}}};
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "what is kept on each axis"}};
  static constexpr std::tuple attrs{
      Field{"begin", &Attrs::begin, {-kIntMax, kIntMax}, "first index; negative: from the back"},
      Field{"end", &Attrs::end, {-kIntMax, kIntMax}, "index past the last; 0 is 0, not the extent"},
      Field{"stride", &Attrs::stride, {-kIntMax, kIntMax}, "step, not 0"}.also("strides")};

  /// The elements kept on one axis: `extent` of them, the first at `begin`.
  struct Cut {
    i64 begin, end, step;
    constexpr i64 extent() const {
      const i64 length = step > 0 ? end - begin : begin - end;
      return length <= 0 ? 0 : ceil_div(length, magnitude(step));
    }
  };
  static constexpr Cut cut(const Attrs& a, int d, i64 n) {
    const i64 step = d < a.stride.size ? a.stride[d] : 1;
    const i64 lo = step < 0 ? -1 : 0, hi = step < 0 ? n - 1 : n;
    const auto place = [&](i64 v) { return clamp(v < 0 ? v + n : v, lo, hi); };
    return {place(d < a.begin.size ? a.begin[d] : 0), place(d < a.end.size ? a.end[d] : n), step};
  }
  static constexpr Rule<Attrs> rules[] = {
      {"length", "begin, end and stride are no longer than the rank",
          [](const Attrs& a, Types in) {
            return max(a.begin.size, max(a.end.size, a.stride.size)) <= in[X].rank();
          }},
      {"stride", "no stride is 0",
          [](const Attrs& a, Types) {
            for (i64 s : a.stride)
              if (s == 0) return false;
            return true;
          }},
      {"empty", "every axis keeps an element", [](const Attrs& a, Types in) {
         for (int d = 0; d < in[X].rank(); ++d)
           if (cut(a, d, in[X].dim(d)).extent() < 1) return false;
         return true;
       }}};
  static constexpr Formula shape[] = {
      "[ceil((e(d) - b(d)) / stride[d]) for d < #X]; "
      "b(d) = place(d, {begin[d] if d < #begin, 0}); "
      "e(d) = place(d, {end[d] if d < #end, X[d]}); "
      "place(d, i) = max(low(d), min(X[d] + low(d), {X[d] + i if i < 0, i})); "
      "low(d) = {-1 if stride[d] < 0, 0}"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Type y = in[X];
    for (int d = 0; d < y.rank(); ++d) y.shape[d] = cut(a, d, in[X].dim(d)).extent();
    return y;
  }
  /// Draws an index that becomes v when n is added to negative ones and all are clamped to lo..hi.
  static constexpr i64 spelt(Draw& draw, i64 v, i64 n, i64 lo, i64 hi) {
    const i64 far = draw(0, 3) == 3 ? kIntMax : n + draw(1, 3);
    const i64 kind = draw(0, 2);
    if (v < 0 || (kind == 0 && v == lo)) return -far;
    if (kind == 0 && v == hi) return far;
    return kind == 1 && v < n ? v - n : v;
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    Attrs& a = c.attrs;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision());
    a.begin = a.end = {};
    const i64 begins = draw(0, x.size), ends = draw(0, x.size), steps = draw(0, x.size);
    for (int d = 0; d < x.size; ++d) {
      const i64 n = x[d];
      // Without an end entry a negative step keeps no elements.
      const bool back = d < steps && d < ends && draw.coin();
      const i64 lo = back ? -1 : 0, hi = back ? n - 1 : n;
      const i64 first = d < begins ? draw(0, n - 1) : 0;
      if (d < begins) a.begin.push(spelt(draw, first, n, lo, hi));
      if (d < ends) {
        const i64 end = back ? draw(-1, first - 1) : draw(first + 1, n);
        a.end.push(spelt(draw, end, n, lo, hi));
      }
      const i64 step = draw(0, 7) == 7 ? kIntMax : draw(1, 3);
      if (d < steps) a.stride.push(back ? -step : step);
    }
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return in[X].at([&](int d) {
      const Cut c = cut(a, d, in[X].dim(d));
      return c.begin + c.step * y[d];
    });
  }
  static constexpr Law<Attrs> laws[] = {law::selects,
      {"as_take", "op(X) = take along each axis of begin, begin + stride, ...",
          [](auto& t) {
            Term x = t[X];
            for (int d = 0; d < t.type(t[X]).rank(); ++d) {
              const Cut c = cut(t.attrs, d, t.shape(t[X])[d]);
              x = t.op("take", {x, t.series(c.extent(), c.begin, c.step)}, {{"axis", {d}}});
            }
            return t.y() == x;
          }},
      {"undone", "op backwards along every axis, twice, gives X", [](auto& t) {
         const int n = t.type(t[X]).rank();
         const Attrs back{Tuple::filled(n, -1), Tuple::filled(n, -kIntMax), Tuple::filled(n, -1)};
         return t.self(back, {t.self(back, {t[X]})}) == t[X];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"backwards: only an end of -n - 1 or less keeps the first element",
          {.begin = {2}, .end = {-4}, .stride = {-1}}, {{{3}, 8, {1, 2, 3}}},
          {{{3}, 8, {3, 2, 1}}}},
      {"the defaults keep the first row", {}, {{{2, 2}, 8, {1, 2, 3, 4}}}, {{{1, 2}, 8, {1, 2}}}},
      {"every second column; ends outside are clamped",
          {.begin = {0, -9}, .end = {2, 9}, .stride = {1, 2}}, {{{2, 3}, 8, {1, 2, 3, 4, 5, 6}}},
          {{{2, 2}, 8, {1, 3, 4, 6}}}},
      {"a negative stride without a begin keeps exactly the first element",
          {.begin = {}, .end = {-4}, .stride = {-2}}, {{{3}, 8, {7, 8, 9}}}, {{{1}, 8, {7}}}},
  };
};

}  // namespace lockstep
