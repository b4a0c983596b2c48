/// @file
/// What parameter files hold, for those who look at them: single elements, and how two dictionaries
/// of tensors differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "containers/params/params.h"

namespace lockstep::params {

/// An element with its exact value; a float16 is a float.
using ElementValue = std::variant<std::int64_t, std::uint64_t, float, double>;

/// How many elements a tensor has.
std::uint64_t element_count(const Tensor& tensor);

/// The element at this place of the row-major order, which must be inside.
ElementValue element(const Tensor& tensor, std::uint64_t index);

/// The shortest decimal text that reads back as the same value, in every locale.
std::string element_text(const ElementValue& value);

/// An element's place along each axis, as text: "[1, 0]", of a scalar "[]".
std::string index_text(std::span<const std::int64_t> shape, std::uint64_t index);

/// In what two dictionaries differ.
enum class Aspect { only_in_first, only_in_second, dtype, shape, values, order };

/// The word for it: "only_in_first", "dtype", ...
std::string_view name_of(Aspect aspect);

/// One difference, in the tensor of this name.
struct Difference {
  Aspect aspect;                   ///< in what the two differ
  std::string name;                ///< of the tensor
  const Tensor* first = nullptr;   ///< the tensor in the first dictionary, if it is there
  const Tensor* second = nullptr;  ///< and in the second
  std::uint64_t differing = 0;     ///< of values: how many elements differ in a bit
  std::uint64_t index = 0;         ///< of values: the first of them, in row-major order
};

/// Every difference: in the order of the first dictionary, then what only the second has. A tensor
/// of another type or shape is not compared further; where all names agree, the first that stands
/// elsewhere is a difference in order. The answer points into both dictionaries.
std::vector<Difference> differences(
    std::span<const NamedTensor> first, std::span<const NamedTensor> second);

}  // namespace lockstep::params
