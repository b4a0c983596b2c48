/// @file
/// Arrays as the tensors of a model: int32 or, of parameters, int8; compact and in host memory.
#pragma once
#include <span>
#include <vector>

#include "containers/array/ndarray.h"
#include "reference/evaluate.h"

namespace lockstep::graph {

/// An array over values, which it keeps: as many as the shape says.
ndarray::NDArray array_of(const Shape& shape, std::vector<i32> values);

/// The values of an array that is int32, compact and in host memory.
std::span<const i32> values_of(const ndarray::NDArray& array);

/// Whether an array is int8, compact and in host memory.
bool is_int8(const ndarray::NDArray& array);
/// The values of an array that is_int8().
std::span<const int8_t> bytes_of(const ndarray::NDArray& array);
/// The values of an array as values_of() takes it, none beyond 8 bits, as int8.
ndarray::NDArray as_int8(const ndarray::NDArray& array);

/// The same values as int32, compact and in host memory; the array itself where it is so already.
/// @throws utils::ValueVerifyFatal where the elements are no integers, or one is outside int32.
ndarray::NDArray as_int32(const ndarray::NDArray& array);

}  // namespace lockstep::graph
