/// @file
/// dense: a fully connected layer, rows of X times rows of W.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct DenseAttrs {
  i64 units = 0;
  bool use_bias = true;
};

struct Dense {
  using Attrs = DenseAttrs;
  static constexpr string_view name = "dense";
  static constexpr string_view profile = "NN";
  static constexpr string_view summary =
      "Multiplies a matrix by the transpose of another and adds the bias where there is one.";
  static constexpr string_view formula = R"(Y[m,n] = B[n] + \sum_{k<K} X[m,k] \cdot W[n,k])";
  static constexpr Exceeds exceeds = kShapeAndPrecision;
  static constexpr Erratum errata[] = {
      {.text = "A weight of the wrong shape is the caller's fault; the deployed runtime reports "
               "its own.",
          .reason = "Types and attributes decide it, and both come from the caller.",
          .label = "weight",
          .deployed = {Deployed::blames, "blame/weight"}},
      {.text = "units is required; the older text lacks this attribute.",
          .reason = "Model files carry it, and a weight that contradicts it is refused.",
          .label = "attr.missing"},
      {.text = "X and W have at most 8 bits; the older text sets no bound.",
          .reason = "Kernels multiply 8-bit integers.",
          .label = "bits"}};
  enum { X, W, B };
  static constexpr Port inputs[] = {{"X", {2, 2}, "(M, K)"}, {"W", {2, 2}, "(units, K)"},
      {"B", {1, 1}, "(units), exactly when use_bias", Hint::any, Arity::optional}};
  static constexpr Port outputs[] = {{"Y", {2, 2}, "(M, units)"}};
  static constexpr std::tuple attrs{
      Field{"units", &Attrs::units, {1, kMaxExtent}, "columns of the output"}.required(),
      Field{"use_bias", &Attrs::use_bias, "whether B is given"}};
  static constexpr int inputs_needed(const Attrs& a) { return a.use_bias ? 3 : 2; }

  static constexpr Rule<Attrs> rules[] = {{"weight", "W has the shape (units, K)",
                                              [](const Attrs& a, Types in) {
                                                return in[W].shape == Shape{a.units, in[X].dim(1)};
                                              }},
      {"bias", "B has the shape (units)",
          [](const Attrs& a, Types in) { return !a.use_bias || in[B].dim(0) == a.units; }},
      {"bits", "X and W have at most 8 bits",
          [](const Attrs&, Types in) { return in[X].precision <= 8 && in[W].precision <= 8; }}};
  static constexpr Formula shape[] = {"[X[0], units]"};
  static constexpr Formula precision[] = {"max(p0 + p1 + bl(|W| / units), p2) + use_bias"};
  static constexpr Formula accumulator =
      "bl(|W| / units * a(p0) * a(p1) + {a(p2) if use_bias, 0}) + 1";
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const i64 products = in[X].precision + in[W].precision + bit_length(in[X].dim(1));
    const i64 p = a.use_bias ? max(products, in[B].precision) + 1 : products;
    return Type{{in[X].dim(0), a.units}, static_cast<int>(p)};
  }
  static constexpr Gas<Attrs> gas{"3 K, and 1 more with a bias",
      [](const Attrs& a, Types in) { return 3 * in[X].dim(1) + (a.use_bias ? 1 : 0); }};
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const i64 k = draw.depth(), rows = draw.extent(min(17, 4400 / k));
    c.attrs.units = draw.extent(min(65, 4400 / k));
    c.attrs.use_bias = draw.coin();
    const int p = draw.precision(8), q = draw.precision(8);
    c.add({rows, k}, p);
    c.add({c.attrs.units, k}, q);
    if (c.attrs.use_bias) c.add({c.attrs.units}, draw.precision(31));
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const i64 m = y[0], n = y[1];
    return (a.use_bias ? in[B](n) : 0) +
        sum(in[X].dim(1), [&](i64 k) { return i64{in[X](m, k)} * in[W](n, k); });
  }
  static constexpr Law<Attrs> laws[] = {law::batchwise<X>, law::mirrored, law::additive<X, B>,
      law::additive<W, B>.named("additive_weights"),
      {"biased", "op(X, W, B) = op(X, W) + B",
          [](auto& t) {
            if (!t.attrs.use_bias) return Claim();
            return t.y() == t.sum(t.self(t.with(&Attrs::use_bias, false), {t[X], t[W]}), t[B]);
          }},
      {"swapped", "op(X, W) = transpose(op(W, X))",
          [](auto& t) {
            const Term forth = t.self(t.with(&Attrs::use_bias, false), {t[X], t[W]});
            return forth == t.op("transpose", {t.self({t.shape(t[X])[0], false}, {t[W], t[X]})});
          }},
      {"as_sum", "op(X, W) = sum over k of the products of X and W", [](auto& t) {
         const Term x = t.op("expand_dims", {t[X]}, {{"axis", {1}}});
         return t.self(t.with(&Attrs::use_bias, false), {t[X], t[W]}) ==
             t.op("sum", {t.product(x, t[W])}, {{"axis", {2}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"two rows, one unit", {.units = 1, .use_bias = false},
          {{{2, 3}, 8, {1, 2, 3, -1, -2, -3}}, {{1, 3}, 8, {1, 10, 100}}},
          {{{2, 1}, 18, {321, -321}}}},
      {"one row, two units, with a bias", {.units = 2},
          {{{1, 2}, 8, {3, 4}}, {{2, 2}, 8, {1, 1, 2, -2}}, {{2}, 8, {100, -100}}},
          {{{1, 2}, 19, {107, -102}}}},
      {"a bias of 31 bits", {.units = 1},
          {{{1, 1}, 8, {127}}, {{1, 1}, 8, {127}}, {{1}, 31, {1073741823}}},
          {{{1, 1}, 32, {1073757952}}}},
  };
};

}  // namespace lockstep
