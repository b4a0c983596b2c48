/// @file
/// The meaning of the input bytes of the target `operators`.
#pragma once
#include "conformance/cases/bytes.h"
#include "conformance/cases/mutate.h"
#include "spec/operators.h"

namespace lockstep::fuzz {

/// The most changes to make a call of the domain illegal.
inline constexpr i64 kMaxChanges = 3;

/// Draws a case: first the operator and common choices, then its domain, changes and values.
inline judge::Case draw_operator_case(Draw& draw) {
  using judge::Case, judge::Fill, judge::Layout;
  const i64 which = draw(0, static_cast<i64>(operators().size()) - 1);
  const auto fill = static_cast<Fill>(draw(0, judge::kFills));
  const auto layout = static_cast<Layout>(draw(0, judge::kLayouts - 1));
  const i64 seed = draw(0, 255), changes = draw(0, kMaxChanges);
  Case c = judge::draw_case(*operators()[static_cast<std::size_t>(which)], draw);
  for (i64 n = 0; n < changes; ++n) judge::mutate(c, draw);
  c.fill = fill;
  c.layout = layout;
  c.seed = static_cast<u64>(seed);
  if (fill != Fill::literal) return c;
  // Only small calls get values from bytes: after the last byte every choice is the smallest, so
  // larger tensors would mostly hold one value.
  i64 elements = 0;
  for (const Type& t : c.in) elements += volume(t.shape);
  if (elements > kMaxLiteral || judge::refusal(c).refused()) {
    c.fill = Fill::dense;
    return c;
  }
  for (const Type& t : c.in) {
    const i64 most = max_of(t.precision);
    std::vector<i64>& values = c.data.emplace_back();
    for (i64 n = volume(t.shape); n > 0; --n) values.push_back(draw(-most, most));
  }
  return c;
}

}  // namespace lockstep::fuzz
