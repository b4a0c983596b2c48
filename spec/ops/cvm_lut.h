/// @file
/// cvm_lut: elements looked up in a table.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct CvmLutAttrs {
  i64 in_dim = 0;
};

struct CvmLut {
  using Attrs = CvmLutAttrs;
  static constexpr string_view name = "cvm_lut";
  static constexpr string_view profile = "XFORM";
  static constexpr string_view summary =
      "Replaces each element by the entry of a table, in row-major order, that it numbers; numbers "
      "outside the table are clamped. The precision is the table's.";
  static constexpr string_view formula = R"(Y[y] = T_{flat}[\mathrm{clamp}(D[y], 0, |T| - 1)])";
  enum { D, T };
  static constexpr Port inputs[] = {
      {"data", {1, kMaxRank}, "any shape; values are clamped", Hint::index},
      {"table", {1, kMaxRank}, "in_dim elements in any shape"}};
  static constexpr Port outputs[] = {{"Y", {1, kMaxRank}, "as data"}};
  static constexpr std::tuple attrs{
      Field{"in_dim", &Attrs::in_dim, {1, kMaxVolume}, "the number of entries"}.required()};

  static constexpr Rule<Attrs> rules[] = {{"table", "in_dim is the number of elements of the table",
      [](const Attrs& a, Types in) { return a.in_dim == volume(in[T].shape); }}};
  static constexpr Formula shape[] = {"data"};
  static constexpr Formula precision[] = {"p1"};
  static constexpr Inferred infer(const Attrs&, Types in) {
    return Type{in[D].shape, in[T].precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    const Shape data = draw.shape(1, kMaxRank), table = draw.shape(1, kMaxRank, 300);
    const int p = draw.precision(), q = draw.precision();
    c.add(data, p);
    c.add(table, q);
    c.attrs.in_dim = volume(table);
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return in[T].element(clamp(in[D](y), 0, a.in_dim - 1));
  }
  static constexpr Law<Attrs> laws[] = {law::additive<T>,
      {"as_take", "op(data, table) = take(table, data)",
          [](auto& t) { return t.y() == t.elements(t[T], t[D]); }},
      {"identity", "op(numbers of the entries, table) = table", [](auto& t) {
         return t.self({t.numbers(t.shape(t[T])), t[T]}) == t[T];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"numbers outside are clamped", {.in_dim = 3},
          {{{2, 2}, 8, {0, 2, -5, 9}}, {{3}, 16, {100, 200, -300}}},
          {{{2, 2}, 16, {100, -300, 100, -300}}}},
      {"a table of two axes, row by row", {.in_dim = 4},
          {{{4}, 4, {3, 2, 1, 0}}, {{2, 2}, 8, {5, 6, 7, 8}}}, {{{4}, 8, {8, 7, 6, 5}}}},
      {"a table of one entry", {.in_dim = 1}, {{{2}, 32, {2147483647, -2147483647}}, {{1}, 1, {0}}},
          {{{2}, 1, {0, 0}}}},
  };
};

}  // namespace lockstep
