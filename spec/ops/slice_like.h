/// @file
/// slice_like: a tensor cut to the extents of another.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct SliceLikeAttrs {
  Tuple axis{};
};

struct SliceLike {
  using Attrs = SliceLikeAttrs;
  static constexpr string_view name = "slice_like";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Keeps the first elements along the listed axes, as many as `like` has there; without a list "
      "along all axes. The values of `like` do not matter.";
  static constexpr string_view formula = "Y[y] = X[y]";
  enum { X, Like };
  static constexpr Port inputs[] = {
      {"X", {1, kMaxRank}, "any shape"}, {"like", {1, kMaxRank}, "its extents are kept of X"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "X, shorter on the axes that are cut"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "axes to cut, counted on X; none: all"}.also("axes")};

  /// Whether axis d of X is cut.
  static constexpr bool is_cut(const Attrs& a, int d, int rank) {
    return a.axis.size == 0 || axis_set(a.axis, rank) >> d & 1;
  }
  static constexpr Rule<Attrs> rules[] = {{"ranks", "without axis both ranks are equal",
                                              [](const Attrs& a, Types in) {
                                                return a.axis.size > 0 ||
                                                    in[X].rank() == in[Like].rank();
                                              }},
      {"axis", "every axis lies in -N..N-1 and both tensors have it",
          [](const Attrs& a, Types in) {
            const int n = in[X].rank();
            for (i64 d : a.axis)
              if (!axis_in(d, n) || wrap(d, n) >= in[Like].rank()) return false;
            return true;
          }},
      {"extents", "no extent of like that is used exceeds that of X", [](const Attrs& a, Types in) {
         const int n = in[X].rank();
         for (int d = 0; d < n; ++d)
           if (is_cut(a, d, n) && in[Like].dim(d) > in[X].dim(d)) return false;
         return true;
       }}};
  static constexpr Formula shape[] = {
      "[{like[d] if #axis = 0 or d in axis or d - #X in axis, X[d]} for d < #X]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Type y = in[X];
    for (int d = 0; d < y.rank(); ++d)
      if (is_cut(a, d, y.rank())) y.shape[d] = in[Like].dim(d);
    return y;
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    const int rank = draw.coin() ? x.size : static_cast<int>(draw(1, kMaxRank));
    const int both = rank < x.size ? rank : x.size;
    for (i64 k = rank != x.size ? draw(1, 3) : draw(0, 3); k > 0; --k) {
      const i64 d = draw(0, both - 1);
      c.attrs.axis.push(draw.coin() ? d : d - x.size);
    }
    Shape like;
    i64 most = 8;  // elements along the axes that are not compared
    for (int d = 0; d < rank; ++d) {
      const bool cut = d < both && is_cut(c.attrs, d, x.size);
      const i64 n = draw(1, cut ? x[d] : min(3, most));
      like.push(n);
      if (!cut) most /= n;
    }
    const int p = draw.precision(), q = draw.precision();
    c.add(x, p);
    c.add(like, q);
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) { return in[X](y); }
  static constexpr Law<Attrs> laws[] = {law::selects, law::idempotent,
      {"as_slice", "op(X, like) = strided_slice(X) up to the extents of the output",
          [](auto& t) { return t.y() == t.corner(t[X], t.shape(t.y())); }},
      {"like_unread", "op(X, like) = op(X, like')", [](auto& t) {
         return t.self({t[X], t.other(Like)}) == t.y();
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"both axes", {}, {{{2, 3}, 8, {1, 2, 3, 4, 5, 6}}, {{1, 2}, 1, {0, 0}}},
          {{{1, 2}, 8, {1, 2}}}},
      {"columns only; listed twice is once, and the other extent of like does not matter",
          {.axis = {1, -1}}, {{{2, 3}, 8, {1, 2, 3, 4, 5, 6}}, {{3, 2}, 2, {0, 0, 0, 0, 0, 1}}},
          {{{2, 2}, 8, {1, 2, 4, 5}}}},
      {"rows, by a tensor of another rank", {.axis = {0}},
          {{{2, 2}, 32, {2147483647, -1, 2, 3}}, {{1}, 8, {9}}}, {{{1, 2}, 32, {2147483647, -1}}}},
  };
};

}  // namespace lockstep
