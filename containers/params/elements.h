/// @file
/// Single elements of stored tensors, as exact values and as text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "containers/params/params.h"

namespace lockstep::params {

/// An element with its exact value; a float16 is a float.
using Element = std::variant<std::int64_t, std::uint64_t, float, double>;

/// How many elements a tensor has.
std::uint64_t element_count(const Tensor& tensor);

/// The element at this place of the row-major order, which must be inside.
Element element(const Tensor& tensor, std::uint64_t index);

/// The shortest decimal text that reads back as the same value, in every locale.
std::string element_text(const Element& value);

/// An element's place along each axis, as text: "[1, 0]", of a scalar "[]".
std::string index_text(std::span<const std::int64_t> shape, std::uint64_t index);

}  // namespace lockstep::params
