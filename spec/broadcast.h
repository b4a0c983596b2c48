/// @file
/// Shared by the broadcast operators: how two shapes align, and which elements are combined.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct Broadcast {
  using Attrs = NoAttrs;
  static constexpr string_view profile = "ELEM";
  enum { A, B };
  static constexpr Port inputs[] = {
      {"A", {1, kMaxRank}, "any shape"}, {"B", {1, kMaxRank}, "aligned with A from the right"}};
  static constexpr Port outputs[] = {
      {"Y", {1, kMaxRank}, "the larger extent of each aligned pair"}};
  static constexpr std::tuple<> attrs{};
  static constexpr Erratum errata[] = {
      {.text =
              "Every index aligns from the right. In the older formula only the first index of the "
              "shorter input does; its other indices are those of the leading axes.",
          .reason =
              "The older text says that the lower dimensions meet, the deployed runtime aligns "
              "from the right, and so do all array languages.",
          .example = "a row added to each row",
          .op = "broadcast_add",
          .deployed = {Deployed::same, "align"}},
      {.text = "An extent of 1 meets any extent, in either input. The older text wants the lower "
               "dimensions equal.",
          .reason = "Its own example adds a column of 2 to a matrix of 2 x 3.",
          .example = "a column added to each column",
          .op = "broadcast_add"}};

  /// The extent of axis d of a result of that rank; 1 where the shape is shorter.
  static constexpr i64 aligned(const Type& x, int d, int rank) {
    const int k = d - (rank - x.rank());
    return k < 0 ? 1 : x.dim(k);
  }
  static constexpr int common_rank(Types in) {
    return in[A].rank() > in[B].rank() ? in[A].rank() : in[B].rank();
  }
  static constexpr Rule<Attrs> rules[] = {
      {"extents", "aligned extents are equal or one of them is 1", [](const Attrs&, Types in) {
         for (int d = 0, n = common_rank(in); d < n; ++d) {
           const i64 a = aligned(in[A], d, n), b = aligned(in[B], d, n);
           if (a != b && a != 1 && b != 1) return false;
         }
         return true;
       }}};
  /// The shape of the output.
  static constexpr Shape common(Types in) {
    Shape y;
    for (int d = 0, n = common_rank(in); d < n; ++d)
      y.push(max(aligned(in[A], d, n), aligned(in[B], d, n)));
    return y;
  }
  static constexpr Formula shape[] = {"[max(A[d - n], B[d - n]) for d < n]; n = max(#A, #B)"};
  /// The element of x for output y.
  static constexpr i64 read(const auto& x, const Index& y) {
    return x.at([&](int d) { return x.dim(d) == 1 ? 0 : y[d + y.size - x.rank()]; });
  }
  /// Repeats x to a shape to which it can be broadcast.
  static Term tiled(const AnyLawCall& t, Term x, const Shape& y) {
    Tuple reps;
    for (int d = 0; d < y.size; ++d) reps.push(y[d] / aligned(t.type(x), d, y.size));
    return t.op("tile", {x}, {{"reps", reps}});
  }
  static constexpr CommonLaw spread{
      "spread", "op(*) = op of both tiled to the shape of the output", 0, [](const AnyLawCall& t) {
        const Shape y = t.shape(t.y());
        return t.self({tiled(t, t[A], y), tiled(t, t[B], y)}) == t.y();
      }};
  /// Draws two shapes from a common one: leading axes may be left out, extents may become 1. Each
  /// precision is at most `top`, their sum at most `together`.
  static constexpr Case<Attrs> paired(Draw& draw, i64 top, i64 together = i64{2} * kMaxPrecision) {
    const Shape y = draw.shape(1, kMaxRank);
    const auto part = [&] {
      Shape s;
      for (i64 d = draw.coin() ? draw(0, y.size - 1) : 0; d < y.size; ++d)
        s.push(draw(0, 3) > 0 ? y[static_cast<int>(d)] : 1);
      return s;
    };
    Case<Attrs> c;
    const Shape a = part(), b = part();
    const int p = draw.precision(top), q = draw.precision(min(top, together - p));
    c.add(a, p);
    c.add(b, q);
    return c;
  }
};

}  // namespace lockstep
