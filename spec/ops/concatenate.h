/// @file
/// concatenate: tensors one after another along an axis.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct ConcatenateAttrs {
  i64 axis = 1;
};

struct Concatenate {
  using Attrs = ConcatenateAttrs;
  static constexpr string_view name = "concatenate";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Joins 1 to 1024 tensors along an axis. The precision is the largest of theirs.";
  static constexpr string_view formula =
      R"(Y[\ldots, j, \ldots] = X_k[\ldots, j - \textstyle\sum_{i<k} n_i, \ldots],
      \quad \textstyle\sum_{i<k} n_i \le j < \sum_{i \le k} n_i)";
  static constexpr Exceeds exceeds = kShape;
  static constexpr Erratum errata[] = {
      {.text = "At most 1024 tensors are joined; the deployed runtime joins any number.",
          .reason = "The parts of a call have limits, so that a reader knows what to expect.",
          .label = "op.inputs",
          .deployed = {Deployed::accepts, "inputs"}}};
  static constexpr Port inputs[] = {
      {"X", {1, kMaxRank}, "equal in shape but for axis", Hint::any, Arity::variadic}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "the extents along axis add up"}};
  static constexpr std::tuple attrs{
      Field{"axis", &Attrs::axis, kAnyInt64, "the axis along which inputs follow one another"}};

  static constexpr Rule<Attrs> rules[] = {{"ranks", "all ranks are equal",
                                              [](const Attrs&, Types in) {
                                                for (const Type& x : in)
                                                  if (x.rank() != in[0].rank()) return false;
                                                return true;
                                              }},
      {"axis", "axis lies in -N..N-1",
          [](const Attrs& a, Types in) { return axis_in(a.axis, in[0].rank()); }},
      {"extents", "all extents off the axis are equal", [](const Attrs& a, Types in) {
         const int along = wrap(a.axis, in[0].rank());
         for (const Type& x : in)
           for (int d = 0; d < x.rank(); ++d)
             if (d != along && x.dim(d) != in[0].dim(d)) return false;
         return true;
       }}};
  static constexpr Formula shape[] = {"[{total(X[d]) if d = axis mod #X, X[d]} for d < #X]"};
  static constexpr Formula precision[] = {"max(p0, ...)"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    Type y = in[0];
    const int along = wrap(a.axis, y.rank());
    y.shape[along] = 0;
    for (const Type& x : in) {
      y.shape[along] += x.dim(along);
      if (x.precision > y.precision) y.precision = x.precision;
    }
    return y;
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    Shape x = draw.shape(1, kMaxRank, 300);
    const i64 along = draw(0, x.size - 1);
    c.attrs.axis = draw.coin() ? along : along - x.size;
    i64& extent = x[static_cast<int>(along)];
    const i64 most = 600 / (volume(x) / extent);
    for (i64 k = draw(1, kMaxDrawn); k > 0; --k) {
      extent = draw.extent(most);
      c.add(x, draw.precision());
    }
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const int along = wrap(a.axis, y.size);
    i64 before = 0;  // extents of the inputs before the one that contains y
    int k = 0;
    for (; y[along] - before >= in[k].dim(along); ++k) before += in[k].dim(along);
    return in[k].at([&](int d) { return d == along ? y[d] - before : y[d]; });
  }
  static constexpr Law<Attrs> laws[] = {
      {"parts", "strided_slice(op(X_0, X_1, ...)) gives each X_k back",
          [](auto& t) {
            const int along = wrap(t.attrs.axis, t.type(t[0]).rank());
            Claim claim;
            i64 before = 0;
            for (Term x : t.all()) {
              claim.also(t.slice(t.y(), along, before, t.shape(x)[along]), x);
              before += t.shape(x)[along];
            }
            return claim;
          }},
      {"nested", "op(op(X_0, ..., X_k), X_k+1, ...) = op(X_0, X_1, ...)", [](auto& t) {
         Terms first, in;
         const i64 split = t.draw(1, t.inputs());
         for (Term x : t.all()) first.count < split ? first.add(x) : in.add(x);
         return t.self(in.after(t.self(first))) == t.y();
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"columns", {}, {{{2, 1}, 8, {1, 2}}, {{2, 2}, 9, {3, 4, 5, 6}}},
          {{{2, 3}, 9, {1, 3, 4, 2, 5, 6}}}},
      {"rows of three tensors, counted from the back", {.axis = -2},
          {{{1, 2}, 8, {1, 2}}, {{2, 2}, 4, {3, 4, 5, 6}}, {{1, 2}, 8, {7, 8}}},
          {{{4, 2}, 8, {1, 2, 3, 4, 5, 6, 7, 8}}}},
      {"a single input", {.axis = 0}, {{{2}, 8, {1, 2}}}, {{{2}, 8, {1, 2}}}},
  };
};

}  // namespace lockstep
