/// @file
/// broadcast_greater: whether one element exceeds another, shapes aligned from the right.
#pragma once
#include "spec/broadcast.h"

namespace lockstep {

struct BroadcastGreater : Broadcast {
  static constexpr string_view name = "broadcast_greater";
  static constexpr string_view summary =
      "Gives 1 where A exceeds B and 0 elsewhere; the shapes align from the right, as for "
      "broadcast_add. The precision is that of A, and at least 2, which holds a 1.";
  static constexpr string_view formula =
      R"(Y[y] = \begin{cases} 1 & A[y_A] > B[y_B] \\ 0 & \text{otherwise} \end{cases})";
  static constexpr Exceeds exceeds = kShape;
  static constexpr Erratum errata[] = {Broadcast::errata[0], Broadcast::errata[1],
      {.text = "The precision is at least 2; the deployed runtime infers that of A.",
          .reason = "A result of 1 needs 2 bits, also where A has 1 bit.",
          .example = "one bit in, two bits out: a 1 needs them",
          .deployed = {Deployed::differs, "greater"}}};

  static constexpr Formula precision[] = {"max(p0, 2)"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{common(in), static_cast<int>(max(in[A].precision, 2))};
  }
  static constexpr Case<Attrs> domain(Draw& draw) { return paired(draw, kMaxPrecision); }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return read(in[A], y) > read(in[B], y) ? 1 : 0;
  }
  static constexpr Law<Attrs> laws[] = {law::mirrored, spread,
      {"as_clip", "op(A, B) = A - B clipped to 0..1",
          [](auto& t) {
            return t.y() ==
                t.op("clip", {t.difference(t[A], t[B])}, {{"a_min", {0}}, {"a_max", {1}}});
          }},
      {"total", "op(A, B) + op(B, A) = |A - B| clipped to 0..1", [](auto& t) {
         const Term apart = t.op("abs", {t.difference(t[A], t[B])});
         return t.sum(t.y(), t.self({t[B], t[A]})) ==
             t.op("clip", {apart}, {{"a_min", {0}}, {"a_max", {1}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"equal is not greater", {}, {{{2, 2}, 8, {1, 2, 3, 4}}, {{2}, 8, {2, 2}}},
          {{{2, 2}, 8, {0, 0, 1, 1}}}},
      {"one bit in, two bits out: a 1 needs them", {}, {{{2}, 1, {0, 0}}, {{2}, 8, {-5, 5}}},
          {{{2}, 2, {1, 0}}}},
      {"neighbours that no float32 tells apart", {},
          {{{1}, 32, {2147483647}}, {{1, 2}, 32, {2147483646, 2147483647}}},
          {{{1, 2}, 32, {1, 0}}}},
  };
};

}  // namespace lockstep
