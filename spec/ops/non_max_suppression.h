/// @file
/// non_max_suppression: of boxes that overlap, the one with the best score.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct NonMaxSuppressionAttrs {
  i64 iou_threshold = 50, max_output_size = -1;
  bool force_suppress = false;
  i64 top_k = -1, coord_start = 2, score_index = 1, id_index = 0;
  bool return_indices = false, invalid_to_bottom = true;
};

struct NonMaxSuppression {
  using Attrs = NonMaxSuppressionAttrs;
  static constexpr string_view name = "non_max_suppression";
  static constexpr string_view profile = "DETECT";
  static constexpr string_view summary =
      "Reads the first valid_count rows of each batch by descending score, equal scores in their "
      "order, and keeps a row unless its id is negative or a kept row of the same id overlaps it "
      "too much. A row that is skipped or dropped suppresses nothing. The rest is filled with -1.";
  static constexpr string_view formula =
      R"(\mathrm{iou} = \lfloor 100 \cdot O / (A_1 + A_2 - O) \rfloor,
      \quad O = \text{overlap}, \; A = (x_2 - x_1)(y_2 - y_1))";
  static constexpr Erratum errata[] = {
      {.text = "The output has at least 2 bits; the deployed runtime infers the precision of X.",
          .reason = "The fill of -1 needs 2 bits, also where X has 1 bit.",
          .example = "one bit in, two bits out: the fill needs them",
          .deployed = {Deployed::differs, "suppressed"}},
      {.text = "X has at most 31 bits; the deployed runtime checks nothing.",
          .reason =
              "Its 32-bit differences of wider coordinates overflow, which is undefined in C.",
          .label = "bits",
          .deployed = {Deployed::accepts, "coordinates"}}};
  enum { X, Valid };
  static constexpr int kId = 0, kScore = 1, kX1 = 2, kY1 = 3, kX2 = 4, kY2 = 5, kColumns = 6;
  static constexpr Port inputs[] = {
      {"X", {3, 3}, "(B, n, 6), rows (id, score, x1, y1, x2, y2)", Hint::boxes},
      {"valid_count", {1, 1}, "(B), clamped to 0..n", Hint::count}};
  static constexpr Port outputs[] = {{"Y", {3, 3}, "as X"}};
  static constexpr std::tuple attrs{
      Field{"iou_threshold", &Attrs::iou_threshold, {1, kIntMax}, "percent that is too much"},
      Field{"max_output_size", &Attrs::max_output_size, {-kIntMax, kIntMax},
          "rows kept at most; negative: no limit"},
      Field{"force_suppress", &Attrs::force_suppress, "boxes of other ids suppress too"},
      Field{"top_k", &Attrs::top_k, {-kIntMax, kIntMax}, "rows read; negative: all"},
      Field{"coord_start", &Attrs::coord_start, {kX1, kX1}, "fixed"},
      Field{"score_index", &Attrs::score_index, {kScore, kScore}, "fixed"},
      Field{"id_index", &Attrs::id_index, {kId, kId}, "fixed"},
      Field{"return_indices", &Attrs::return_indices, {0, 0}, "fixed"},
      Field{"invalid_to_bottom", &Attrs::invalid_to_bottom, {1, 1}, "fixed"}};

  static constexpr Rule<Attrs> rules[] = {
      {"columns", "X has 6 columns",
          [](const Attrs&, Types in) { return in[X].dim(2) == kColumns; }},
      {"batch", "valid_count has the shape (B)",
          [](const Attrs&, Types in) { return in[Valid].dim(0) == in[X].dim(0); }},
      {"bits", "X has at most 31 bits",
          [](const Attrs&, Types in) { return in[X].precision <= 31; }}};
  static constexpr Formula shape[] = {"X"};
  static constexpr Formula precision[] = {"max(p0, 2)"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{in[X].shape, in[X].precision > 2 ? in[X].precision : 2};
  }
  static constexpr Gas<Attrs> gas{"20 B", [](const Attrs&, Types in) { return 20 * in[X].dim(0); }};
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const i64 batch = draw(1, 3), rows = draw.coin() ? draw(2, 12) : draw.extent(33);
    constexpr i64 kRound[] = {10, 28, 29, 50, 57, 70, 100, kIntMax};
    c.attrs.iou_threshold = draw.coin() ? kRound[draw(0, std::size(kRound) - 1)] : draw(1, 101);
    c.attrs.max_output_size = draw.coin() ? draw(-1, rows + 1) : -1;
    c.attrs.force_suppress = draw.coin();
    c.attrs.top_k = draw.coin() ? draw(-1, rows + 1) : -1;
    const int p = draw.precision(31), q = draw.precision();
    c.add({batch, rows, kColumns}, p);
    c.add({batch}, q);
    return c;
  }

  /// Percent of the union of rows p and q of a batch that both cover.
  ///
  /// Nothing overflows: 31 bits keep each side within 2^31 - 2, hence each area within
  /// 2^62 - 2^33 + 4 and the sum of two within 2^63 - 2^34 + 8. Where boxes overlap, both are
  /// upright, so that each area and the union are at least the overlap: the union is positive, and
  /// above 100 wherever 100 times the overlap does not fit. Without an overlap nothing is shared,
  /// whatever the areas, which boxes inside out make zero or negative.
  static constexpr i64 overlap_percent(const auto& y, i64 b, i64 p, i64 q) {
    const auto at = [&](i64 row, int column) { return i64{y(b, row, column)}; };
    const auto area = [&](i64 r) { return (at(r, kX2) - at(r, kX1)) * (at(r, kY2) - at(r, kY1)); };
    const auto shared = [&](int from, int to) {
      return max(0, min(at(p, to), at(q, to)) - max(at(p, from), at(q, from)));
    };
    const i64 areas = area(p) + area(q), overlap = shared(kX1, kX2) * shared(kY1, kY2);
    if (overlap == 0) return 0;
    const i64 both = areas - overlap;
    return overlap <= INT64_MAX / 100 ? 100 * overlap / both : overlap / (both / 100);
  }
  /// Inserts the first rows of a batch into Y by descending score, earlier rows first.
  static constexpr void sort(const auto& x, const auto& y, i64 b, i64 rows) {
    for (i64 r = 0; r < rows; ++r) {
      i64 to = r;
      for (; to > 0 && y(b, to - 1, kScore) < x(b, r, kScore); --to)
        for (int k = 0; k < kColumns; ++k) y(b, to, k) = y(b, to - 1, k);
      for (int k = 0; k < kColumns; ++k) y(b, to, k) = x(b, r, k);
    }
  }
  /// Whether neither its id nor one of the first `kept` rows removes row p.
  static constexpr bool survives(const Attrs& a, const auto& y, i64 b, i64 p, i64 kept) {
    if (y(b, p, kId) < 0) return false;
    for (i64 q = 0; q < kept; ++q) {
      const bool rivals = a.force_suppress || y(b, q, kId) == y(b, p, kId);
      if (rivals && overlap_percent(y, b, p, q) >= a.iou_threshold) return false;
    }
    return true;
  }
  static constexpr void eval(const Attrs& a, const auto& in, const auto& out) {
    const auto& x = in[X];
    const auto& y = out[0];
    for (i64 b = 0; b < x.dim(0); ++b) {
      const i64 n = x.dim(1), valid = clamp(in[Valid](b), 0, n);
      const i64 read = a.top_k < 0 ? valid : min(valid, a.top_k);
      const i64 most = a.max_output_size < 0 ? valid : min(valid, a.max_output_size);
      sort(x, y, b, valid);
      i64 kept = 0;
      for (i64 p = 0; p < read && kept < most; ++p) {
        if (!survives(a, y, b, p, kept)) continue;
        for (int k = 0; k < kColumns; ++k) y(b, kept, k) = y(b, p, k);
        ++kept;
      }
      for (i64 r = kept; r < n; ++r)
        for (int k = 0; k < kColumns; ++k) y(b, r, k) = -1;
    }
  }
  static constexpr Law<Attrs> laws[] = {law::batchwise<X, Valid>,
      {"idempotent", "op(op(X)) = op(X), the second without top_k",
          [](auto& t) {
            // This needs top_k = -1: otherwise a row of -1 may be read before a kept one.
            return t.self(t.with(&Attrs::top_k, -1), {t.y(), t[Valid]}) == t.y();
          }},
      {"limited", "op(X) with max_output_size m = the first m rows of op(X) without, then -1",
          [](auto& t) {
            const Shape x = t.shape(t[X]);
            const i64 m = t.draw(1, x[1]);
            if (m == x[1]) return Claim();
            const Term first = t.slice(t.self(t.with(&Attrs::max_output_size, -1)), 1, 0, m);
            const Term rest = t.filled({x[0], x[1] - m, kColumns}, -1);
            return t.self(t.with(&Attrs::max_output_size, m)) == t.beside(first, rest, 1);
          }},
      {"forced",
          "op(X) under force_suppress = op(X) without if all ids above 0 were 0, but for ids",
          [](auto& t) {
            const Term ids = t.negative(t.op("relu", {t.negative(t.slice(t[X], 2, 0, 1))}));
            const Term same = t.beside(ids, t.slice(t[X], 2, 1, kColumns - 1), 2);
            const Term forced = t.self(t.with(&Attrs::force_suppress, true));
            const Term free = t.self(t.with(&Attrs::force_suppress, false), {same, t[Valid]});
            return t.slice(forced, 2, 1, kColumns - 1) == t.slice(free, 2, 1, kColumns - 1);
          }},
      {"reached", "boxes that are one square: op at iou_threshold 100 = op at 1",
          [](auto& t) {
            const Shape x = t.shape(t[X]);
            const Term upper = t.filled({x[0], x[1], 2}, 0), lower = t.filled({x[0], x[1], 2}, 5);
            const Term boxes = t.beside(t.slice(t[X], 2, 0, 2), t.beside(upper, lower, 2), 2);
            return t.self(t.with(&Attrs::iou_threshold, 100), {boxes, t[Valid]}) ==
                t.self(t.with(&Attrs::iou_threshold, 1), {boxes, t[Valid]});
          }},
      {"translated", "boxes moved by one vector: the same ids and scores", [](auto& t) {
         if (t.type(t[X]).precision > 30) return Claim();
         const i64 most = max_of(t.type(t[X]).precision);
         const Term still = t.filled({2}, 0), moved = t.filled({kColumns - 2}, t.draw(-most, most));
         const Term vector = t.beside(still, moved, 0);
         return t.slice(t.self({t.sum(t[X], vector), t[Valid]}), 2, 0, 2) ==
             t.slice(t.y(), 2, 0, 2);
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"the better score first; another id does not suppress", {},
          {{{1, 3, 6}, 8, {0, 7, 0, 0, 9, 9, 0, 9, 0, 0, 9, 9, 1, 8, 0, 0, 9, 9}}, {{1}, 8, {3}}},
          {{{1, 3, 6}, 8, {0, 9, 0, 0, 9, 9, 1, 8, 0, 0, 9, 9, -1, -1, -1, -1, -1, -1}}}},
      {"a dropped row suppresses nothing: the third overlaps only the second", {},
          {{{1, 3, 6}, 8, {0, 9, 0, 0, 9, 1, 0, 8, 3, 0, 12, 1, 0, 7, 6, 0, 15, 1}}, {{1}, 8, {9}}},
          {{{1, 3, 6}, 8, {0, 9, 0, 0, 9, 1, 0, 7, 6, 0, 15, 1, -1, -1, -1, -1, -1, -1}}}},
      {"nor does a skipped one; rows beyond valid_count do not exist", {.force_suppress = true},
          {{{1, 3, 6}, 8, {-1, 9, 0, 0, 9, 9, 3, 8, 0, 0, 9, 9, 3, 99, 0, 0, 9, 9}}, {{1}, 8, {2}}},
          {{{1, 3, 6}, 8, {3, 8, 0, 0, 9, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}}}},
      {"one bit in, two bits out: the fill needs them", {},
          {{{1, 1, 6}, 1, {0, 0, 0, 0, 0, 0}}, {{1}, 1, {0}}},
          {{{1, 1, 6}, 2, {-1, -1, -1, -1, -1, -1}}}},
      {"equal scores in their order; no more than one is kept", {.max_output_size = 1},
          {{{1, 2, 6}, 8, {5, 7, 0, 0, 1, 1, 4, 7, 2, 2, 3, 3}}, {{1}, 8, {2}}},
          {{{1, 2, 6}, 8, {5, 7, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1}}}},
  };
};

}  // namespace lockstep
