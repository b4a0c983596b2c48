/// @file
/// get_valid_counts: the rows whose score passes a threshold, first and counted.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct GetValidCountsAttrs {
  i64 score_threshold = 0;
};

struct GetValidCounts {
  using Attrs = GetValidCountsAttrs;
  static constexpr string_view name = "get_valid_counts";
  static constexpr string_view alias = "get_valid_count";
  static constexpr string_view profile = "DETECT";
  static constexpr string_view summary =
      "Moves the rows whose score, the entry in column 1, exceeds a threshold to the front in "
      "their "
      "order, fills the others with -1, and counts the rows that pass.";
  static constexpr string_view formula = R"(count[b] = |\{q : X[b,q,1] > score\_threshold\}|)";
  static constexpr Erratum errata[] = {
      {.text = "The rows have at least 2 bits; the deployed runtime infers the precision of X.",
          .reason = "The fill of -1 needs 2 bits, also where X has 1 bit.",
          .example = "one bit in, two bits out: the fill needs them",
          .deployed = {Deployed::differs, "rows"}}};
  enum { X };
  enum { Count, Rows };
  static constexpr Port inputs[] = {{"X", {3, 3}, "(B, n, K), scores in column 1", Hint::score}};
  static constexpr Port outputs[] = {{"count", {1, 1}, "(B)"}, {"Y", {3, 3}, "as X"}};
  static constexpr std::tuple attrs{Field{"score_threshold", &Attrs::score_threshold,
      {-kIntMax, kIntMax}, "a row passes with a larger score"}};

  static constexpr Rule<Attrs> rules[] = {{"columns", "2 <= K <= 31",
      [](const Attrs&, Types in) { return 2 <= in[X].dim(2) && in[X].dim(2) <= 31; }}};
  static constexpr Formula shape[] = {"[X[0]]", "X"};
  static constexpr Formula precision[] = {"bl(|X| / |count| + 1) + 1", "max(p0, 2)"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const Type& x = in[X];
    const Type count{{x.dim(0)}, bit_length(x.dim(1) * x.dim(2) + 1) + 1};
    return {count, Type{x.shape, x.precision > 2 ? x.precision : 2}};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const i64 batch = draw(1, 3), rows = draw.extent(33);
    const i64 columns = draw(0, 3) == 3 ? draw(2, 31) : draw(2, 6);
    const int p = draw.precision();
    c.attrs.score_threshold = draw.coin() ? draw(-2, 2) : draw(-max_of(p), max_of(p));
    c.add({batch, rows, columns}, p);
    return c;
  }
  static constexpr void eval(const Attrs& a, const auto& in, const auto& out) {
    constexpr i64 kScore = 1;
    const auto& x = in[X];
    const i64 rows = x.dim(1), columns = x.dim(2);
    for (i64 b = 0; b < x.dim(0); ++b) {
      i64 passed = 0;
      for (i64 q = 0; q < rows; ++q) {
        if (x(b, q, kScore) <= a.score_threshold) continue;
        for (i64 k = 0; k < columns; ++k) out[Rows](b, passed, k) = x(b, q, k);
        ++passed;
      }
      out[Count](b) = static_cast<i32>(passed);
      for (i64 q = passed; q < rows; ++q)
        for (i64 k = 0; k < columns; ++k) out[Rows](b, q, k) = -1;
    }
  }
  static constexpr Law<Attrs> laws[] = {law::batchwise<X>,
      {"idempotent", "the rows of op(the rows of op(X)) are those of op(X)",
          [](auto& t) { return t.self({t.y(Rows)}, Rows) == t.y(Rows); }},
      {"counted", "count = sum over the rows of score > score_threshold", [](auto& t) {
         const Term scores = t.slice(t[X], 2, 1, 1);
         const Term passes = t.greater(scores, t.constant(t.attrs.score_threshold));
         return t.y(Count) == t.op("sum", {passes}, {{"axis", {1, 2}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"the second of two rows passes", {}, {{{1, 2, 2}, 8, {5, 0, 6, 3}}},
          {{{1}, 4, {1}}, {{1, 2, 2}, 8, {6, 3, -1, -1}}}},
      {"two batches, a negative threshold", {.score_threshold = -3},
          {{{2, 2, 2}, 8, {1, -3, 2, -2, 3, 9, 4, 0}}},
          {{{2}, 4, {1, 2}}, {{2, 2, 2}, 8, {2, -2, -1, -1, 3, 9, 4, 0}}}},
      {"one bit in, two bits out: the fill needs them", {}, {{{1, 1, 2}, 1, {0, 0}}},
          {{{1}, 3, {0}}, {{1, 1, 2}, 2, {-1, -1}}}},
  };
};

}  // namespace lockstep
