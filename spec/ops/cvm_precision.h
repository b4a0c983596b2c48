/// @file
/// cvm_precision: how many bits each magnitude has.
#pragma once
#include "spec/elementwise.h"

namespace lockstep {

struct CvmPrecision : Unary {
  static constexpr string_view name = "cvm_precision";
  static constexpr string_view summary =
      "Counts the bits of each element's magnitude; 0 counts as 1. At most 31 come out, so the "
      "precision is 6.";
  static constexpr string_view formula = R"(Y[y] = \begin{cases} 1 & X[y] = 0 \\
      \lfloor \log_2 |X[y]| \rfloor + 1 & \text{otherwise} \end{cases})";

  static constexpr Formula precision[] = {"6"};
  static constexpr Inferred infer(const Attrs&, Types in) { return Type{in[X].shape, 6}; }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    return max(1, bit_length(magnitude(in[X](y))));
  }
  static constexpr Law<Attrs> laws[] = {law::even, law::pointwise,
      {"doubled", "op(2 M) = op(M) + 1 where M = max(|X|, 1)", [](auto& t) {
         const Term m = t.larger(t.abs(t[X]), t.constant(1));
         return t.self({t.product(m, t.constant(2))}) == t.sum(t.self({m}), t.constant(1));
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"around powers of two", {}, {{{2, 4}, 8, {0, 1, 2, 3, -4, -7, 8, -127}}},
          {{{2, 4}, 6, {1, 1, 2, 2, 3, 3, 4, 7}}}},
      {"the widest values; 2^24 + 1 is no float32", {},
          {{{4}, 32, {2147483647, -2147483647, 16777215, 16777217}}}, {{{4}, 6, {31, 31, 24, 25}}}},
      {"one bit in, six bits out", {}, {{{1}, 1, {0}}}, {{{1}, 6, {1}}}},
  };
};

}  // namespace lockstep
