/// @file
/// Shared by the elementwise operators: the output has the shape of the inputs.
#pragma once
#include "spec/laws.h"

namespace lockstep {

/// One input.
struct Elementwise {
  static constexpr string_view profile = "ELEM";
  static constexpr bool in_place = true;
  enum { X };
  static constexpr Port inputs[] = {{"X", {1, kMaxRank}, "any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as X"}};
  static constexpr Formula shape[] = {"X"};

  template <class Attrs> static constexpr Case<Attrs> shaped(Draw& draw, i64 top = kMaxPrecision) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    c.add(x, draw.precision(top));
    return c;
  }
};

/// One input, no attributes, the precision of the input.
struct Unary : Elementwise {
  using Attrs = NoAttrs;
  static constexpr std::tuple<> attrs{};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs&, Types in) { return in[X]; }
  static constexpr Case<Attrs> domain(Draw& draw) { return shaped<Attrs>(draw); }
};

/// Two inputs of one shape; a sum or difference, one bit wider than they are.
struct Pairwise {
  using Attrs = NoAttrs;
  static constexpr string_view profile = "ELEM";
  static constexpr bool in_place = true;
  static constexpr Exceeds exceeds = kPrecision;
  enum { A, B };
  static constexpr Port inputs[] = {
      {"A", {1, kMaxRank}, "any shape"}, {"B", {1, kMaxRank}, "as A"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as A"}};
  static constexpr std::tuple<> attrs{};
  static constexpr Rule<Attrs> rules[] = {{"extents", "A and B have the same shape",
      [](const Attrs&, Types in) { return in[A].shape == in[B].shape; }}};

  static constexpr Formula shape[] = {"A"};
  static constexpr Formula precision[] = {"max(p0, p1) + 1"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    const i64 p = max(in[A].precision, in[B].precision) + 1;
    return Type{in[A].shape, static_cast<int>(p)};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape x = draw.shape(1, kMaxRank);
    const int p = draw.precision(31), q = draw.precision(31);
    c.add(x, p);
    c.add(x, q);
    return c;
  }
};

}  // namespace lockstep
