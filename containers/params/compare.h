/// @file
/// How two dictionaries of tensors differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "containers/params/params.h"

namespace lockstep::params {

/// In what two dictionaries differ.
enum class Aspect { only_in_first, only_in_second, dtype, shape, values, order };

/// The word for it: "only_in_first", "dtype", ...
std::string_view name_of(Aspect aspect);

/// One difference, in the tensor of this name.
struct Difference {
  Aspect aspect;
  std::string name;
  const Tensor* first = nullptr;   ///< the tensor in the first dictionary, if it is there
  const Tensor* second = nullptr;  ///< and in the second
  std::uint64_t differing = 0;     ///< of values: how many elements differ in a bit
  std::uint64_t index = 0;         ///< of values: the first of them, in row-major order
};

/// Every difference: in the order of the first dictionary, then what only the second has. A tensor
/// of another type or shape is not compared further; where all names agree, the first that stands
/// elsewhere is a difference in order. The answer points into both dictionaries.
std::vector<Difference> differences(std::span<const NamedTensor> first,
                                    std::span<const NamedTensor> second);

}  // namespace lockstep::params
