/// @file
/// reshape: the same elements in another shape, written in codes.
#pragma once
#include <numeric>

#include "spec/laws.h"

namespace lockstep {

struct ReshapeAttrs {
  Tuple shape{};
};

struct Reshape {
  using Attrs = ReshapeAttrs;
  static constexpr string_view name = "reshape";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Gives the elements, in row-major order, another shape. The target is read from left to "
      "right "
      "beside the extents of X: a positive entry is an extent, 0 copies one of X, -1 (once) is "
      "inferred, -2 copies all that remain, -3 merges two, and -4 a b splits one into a and b, of "
      "which one may be -1. The first violation on this walk names the error.";
  static constexpr string_view formula = "Y_{flat}[k] = X_{flat}[k]";
  static constexpr Exceeds exceeds = kShape;
  static constexpr bool in_place = true;
  static constexpr Erratum errata[] = {
      {.text = "-1 works after -4, as after -2 and -3; the deployed runtime refuses it there.",
          .reason = "A target is text of the caller: it has a meaning or a label, nothing else.",
          .example = "infer after the rest",
          .deployed = {Deployed::refuses, "split_infer"}},
      {.text =
              "An extent is at least 1: entries below -4 are refused, and so are negative parts of "
              "a split. The deployed runtime skips the former and makes extents of the latter.",
          .reason = "A tensor with a negative extent has no elements, and no meaning.",
          .label = "split",
          .deployed = {Deployed::accepts, "negative_extents"}},
      {.text = "A product of extents beyond 64 bits is as large as any; the deployed runtime wraps "
               "it, and ends where that gives 0.",
          .reason = "Dividing by zero has no outcome that all machines share.",
          .label = "infer",
          .deployed = {Deployed::crashes, "product"}}};
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "the target, its codes replaced"}};
  static constexpr std::tuple attrs{
      Field{"shape", &Attrs::shape, {-4, kMaxExtent}, "extents, and codes 0 -1 -2 -3 -4"}
          .length(1, kMaxTuple)
          .required()
          .also("target_shape")};

  /// The target while codes are replaced: 16 entries and 6 copied extents make at most 22.
  using Target = List<kMaxTuple + kMaxRank>;
  struct Walk {
    Target y{};
    string_view broken{};  ///< the rule that the walk violates first
    constexpr Walk fail(string_view rule) const { return {y, rule}; }
  };
  /// The two extents into which -4 a b splits n; 0 if it cannot.
  static constexpr List<2> split(i64 n, i64 a, i64 b) {
    if (a == -1) a = n % b == 0 ? n / b : 0;
    if (b == -1) b = n % a == 0 ? n / a : 0;
    return a * b == n ? List<2>{a, b} : List<2>{0, 0};
  }
  /// Replaces the codes of a target, from left to right.
  static constexpr Walk walk(const Tuple& t, const Shape& x) {
    Walk w;
    int hole = -1;
    for (int k = 0, c = 0; k < t.size; ++k) {
      switch (t[k]) {
        case 0:
          if (c >= x.size) return w.fail("source");
          w.y.push(x[c++]);
          break;
        case -1:
          if (hole >= 0) return w.fail("infer_twice");
          hole = w.y.size;
          w.y.push(1);
          ++c;
          break;
        case -2:
          while (c < x.size) w.y.push(x[c++]);
          break;
        case -3:
          if (c + 1 >= x.size) return w.fail("source");
          w.y.push(x[c] * x[c + 1]);
          c += 2;
          break;
        case -4: {
          if (k + 2 >= t.size) return w.fail("split");
          const i64 a = t[k + 1], b = t[k + 2];
          if ((a < 1 && a != -1) || (b < 1 && b != -1) || (a == -1 && b == -1))
            return w.fail("split");
          if (c >= x.size) return w.fail("source");
          const List<2> parts = split(x[c++], a, b);
          if (parts[0] == 0) return w.fail("split");
          w.y.push(parts[0]);
          w.y.push(parts[1]);
          k += 2;
          break;
        }
        default: w.y.push(t[k]); ++c;
      }
    }
    return fill(w, hole, volume(x));
  }
  /// Fills in the inferred extent, if there is one, and checks the number of elements.
  static constexpr Walk fill(Walk w, int hole, i64 n) {
    i64 product = 1;  // saturates: every factor is at most 2^30
    for (i64 e : w.y) product = min(product * e, kMaxVolume + 1);
    if (hole < 0) return product == n ? w : w.fail("size");
    if (n % product != 0) return w.fail("infer");
    w.y[hole] = n / product;
    return w;
  }
  static constexpr bool walks(const Attrs& a, Types in, string_view rule) {
    return walk(a.shape, in[X].shape).broken != rule;
  }
  static constexpr Rule<Attrs> rules[] = {
      {"infer_twice", "-1 is given once",
          [](const Attrs& a, Types in) { return walks(a, in, "infer_twice"); }},
      {"split", "-4 a b: a b is the extent; a and b are positive, or one of them is -1",
          [](const Attrs& a, Types in) { return walks(a, in, "split"); }},
      {"source", "0, -3 and -4 find the extents of X they need",
          [](const Attrs& a, Types in) { return walks(a, in, "source"); }},
      {"infer", "the inferred extent is a whole number",
          [](const Attrs& a, Types in) { return walks(a, in, "infer"); }},
      {"size", "Y has as many elements as X",
          [](const Attrs& a, Types in) { return walks(a, in, "size"); }}};
  static constexpr Formula shape[] = {
      "S(0, 0, |X| / prod(S(0, 0, 1))); "
      "S(k, c, h) = {[] if k = #shape, "
      "[shape[k]] ++ S(k + 1, c + 1, h) if shape[k] > 0, "
      "[X[c]] ++ S(k + 1, c + 1, h) if shape[k] = 0, "
      "[h] ++ S(k + 1, c + 1, h) if shape[k] = -1, "
      "[X[d] for d < #X if d >= c] ++ S(k + 1, #X, h) if shape[k] = -2, "
      "[X[c] * X[c + 1]] ++ S(k + 1, c + 2, h) if shape[k] = -3, "
      "[part(X[c], shape[k + 1], shape[k + 2]), part(X[c], shape[k + 2], shape[k + 1])]"
      " ++ S(k + 3, c + 1, h)}; "
      "part(n, u, v) = {n / v if u = -1, u}"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Shape y;
    for (i64 e : walk(a.shape, in[X].shape).y) y.push(e);
    return Type{y, in[X].precision};
  }
  static constexpr i64 divisor(Draw& draw, i64 n) { return std::gcd(n, draw(1, n)); }
  static constexpr Case<Attrs> domain(Draw& draw) {
    enum { kCopy, kMerge, kSplit, kLiteral, kRegroup, kInfer, kRest };
    const Shape x = draw.shape(1, kMaxRank);
    Case<Attrs> c;
    c.add(x, draw.precision());
    Tuple& t = c.attrs.shape;
    int rank = 0;
    bool hole = false;
    for (int d = 0; d < x.size;) {
      const int left = x.size - d;
      i64 code = draw(kCopy, kRest);
      if (left < 2 && (code == kMerge || code == kRegroup)) code = kLiteral;
      if (rank + left >= kMaxRank && code == kSplit) code = kCopy;
      if (hole && code == kInfer) code = kCopy;
      if (code == kCopy) t.push(0);
      if (code == kMerge) t.push(-3);
      if (code == kLiteral) t.push(x[d]);
      if (code == kInfer) t.push(-1);
      if (code == kRest) t.push(-2);
      if (code == kSplit) {
        const i64 a = divisor(draw, x[d]), missing = draw(0, 2);
        t.push(-4);
        t.push(missing == 1 ? -1 : a);
        t.push(missing == 2 ? -1 : x[d] / a);
      }
      if (code == kRegroup) {
        const i64 n = x[d] * x[d + 1], a = divisor(draw, n);
        t.push(a);
        t.push(n / a);
      }
      hole = hole || code == kInfer;
      rank += code == kRest ? left : code == kSplit || code == kRegroup ? 2 : 1;
      d += code == kRest ? left : code == kMerge || code == kRegroup ? 2 : 1;
      if (code == kInfer && draw.coin()) break;  // -1 takes the rest
    }
    for (i64 ones = draw(0, 3); ones > 1 && rank < kMaxRank; --ones, ++rank) t.push(1);
    if (!hole && rank < kMaxRank && draw.coin()) t.push(-1);
    return c;
  }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y, const Type& t) {
    return in[X].element(ravel(y, t.shape));
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored,
      {"undone", "reshape of op(X) to the shape of X = X",
          [](auto& t) { return t.self({t.tuple(t.shape(t[X]))}, {t.y()}) == t[X]; }}};
  static constexpr Example<Attrs> examples[] = {
      {"copy, and infer the rest", {.shape = {0, -1}}, {{{2, 1, 2}, 8, {1, 2, 3, 4}}},
          {{{2, 2}, 8, {1, 2, 3, 4}}}},
      {"split the first axis, merge the others", {.shape = {-4, -1, 2, -3}},
          {{{4, 1, 2}, 8, {1, 2, 3, 4, 5, 6, 7, 8}}}, {{{2, 2, 2}, 8, {1, 2, 3, 4, 5, 6, 7, 8}}}},
      {"literals past the end of X, and a rest that is empty", {.shape = {2, 1, 1, -2}},
          {{{2}, 8, {1, 2}}}, {{{2, 1, 1}, 8, {1, 2}}}},
      {"infer after the rest", {.shape = {-2, -1}}, {{{1, 2}, 8, {5, 6}}},
          {{{1, 2, 1}, 8, {5, 6}}}},
  };
};

}  // namespace lockstep
