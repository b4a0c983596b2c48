/// @file
/// Shapes in words.
#pragma once
#include <span>
#include <string>

#include "spec/shape.h"

namespace lockstep {

/// A shape as Python spells it: "()" is a scalar's, "(3,)" a vector's, "(2, 3)" a matrix's.
/// With `has_more` it shows further extents: "(2, 3, ...)".
inline std::string shape_text(std::span<const i64> shape, bool has_more = false) {
  std::string text = "(";
  for (const i64 extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  if (has_more) return text + ", ...)";
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The same for a list, which may count more extents than it stores.
template <int N> std::string shape_text(const List<N>& shape) {
  return shape_text(std::span(shape.begin(), shape.end()), !shape.fits());
}

}  // namespace lockstep
