#include "reference/graph/arrays.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "containers/array/copy.h"
#include "containers/array/dictionary.h"
#include "containers/logging.h"

namespace lockstep::graph {
namespace {

constexpr DLDataType kInt32{kDLInt, 32, 1}, kInt8{kDLInt, 8, 1};

// An array that another library lent may begin anywhere.
bool is_aligned(const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(i32) == 0;
}

bool is_as_tensors_are(const ndarray::NDArray& array) {
  return ndarray::same_type(array.dtype(), kInt32) && ndarray::is_host(array.device()) &&
      array.is_compact() && is_aligned(array.data());
}

}  // namespace

ndarray::NDArray array_of(const Shape& shape, std::vector<i32> values) {
  CHECK_EQ(std::ssize(values), volume(shape)) << "values for an array";
  std::vector<i64> extents(shape.begin(), shape.end());
  auto owner = std::make_unique<std::vector<i32>>(std::move(values));
  DLTensor layout{};
  layout.data = owner->data();
  layout.device = ndarray::kHost;
  layout.ndim = shape.size;
  layout.dtype = kInt32;
  layout.shape = extents.data();
  return ndarray::NDArray::adopt(layout, std::move(owner), false);
}

std::span<const i32> values_of(const ndarray::NDArray& array) {
  CHECK(is_as_tensors_are(array)) << "an array that no tensor of a model is";
  return {reinterpret_cast<const i32*>(array.data()),
      ndarray::byte_count(array.tensor()) / sizeof(i32)};
}

bool is_int8(const ndarray::NDArray& array) {
  return ndarray::same_type(array.dtype(), kInt8) && ndarray::is_host(array.device()) &&
      array.is_compact();
}

std::span<const int8_t> bytes_of(const ndarray::NDArray& array) {
  CHECK(is_int8(array)) << "an array that does not consist of bytes";
  return {reinterpret_cast<const int8_t*>(array.data()), ndarray::byte_count(array.tensor())};
}

ndarray::NDArray as_int8(const ndarray::NDArray& array) {
  const std::span<const i32> values = values_of(array);
  ndarray::NDArray bytes = ndarray::NDArray::empty(array.shape(), kInt8);
  std::transform(values.begin(), values.end(), reinterpret_cast<int8_t*>(bytes.mutable_data()),
      [](i32 v) { return static_cast<int8_t>(v); });
  return bytes;
}

ndarray::NDArray as_int32(const ndarray::NDArray& array) {
  if (is_as_tensors_are(array)) return array;
  ndarray::NDArray values = ndarray::NDArray::empty(array.shape(), kInt32);
  if (ndarray::same_type(array.dtype(), kInt32)) {
    ndarray::copy(array.tensor(), values.mutable_tensor());
    return values;
  }
  params::to_int32(ndarray::to_params(array),
      {reinterpret_cast<i32*>(values.mutable_data()),
          static_cast<std::size_t>(ndarray::element_count(array.shape()))});
  return values;
}

}  // namespace lockstep::graph
