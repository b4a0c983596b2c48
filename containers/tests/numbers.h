/// @file
/// Small int32 arrays for tests, by their values.
#pragma once

#include <cstring>
#include <vector>

#include "containers/array/copy.h"
#include "containers/array/ndarray.h"

namespace lockstep::ndarray {

using Values = std::vector<std::int32_t>;
inline constexpr DLDataType kInt32{kDLInt, 32, 1};

inline NDArray numbers(const Extents& shape, const Values& values) {
  NDArray array = NDArray::empty(shape, kInt32);
  copy_from_bytes(values.data(), values.size() * sizeof(std::int32_t), array.mutable_tensor());
  return array;
}

/// The elements in row-major order.
inline Values values_of(const NDArray& array) {
  Values values(byte_count(array.tensor()) / sizeof(std::int32_t));
  copy_to_bytes(array.tensor(), values.data(), values.size() * sizeof(std::int32_t));
  return values;
}

inline void set_first(NDArray& array, std::int32_t value) {
  std::memcpy(array.mutable_data(), &value, sizeof(value));
}

}  // namespace lockstep::ndarray
