/// @file
/// Tensors of drawn layouts for property tests, and the plainest way to reach their elements.
#pragma once

#include <rapidcheck.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "containers/array/dltensor.h"

namespace lockstep::ndarray {

/// Memory whose every byte tells its place, so that a byte written by mistake shows.
inline std::vector<std::byte> numbered_bytes(std::size_t size, int first) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(first + 31 * static_cast<int>(i % 251));
  return bytes;
}

/// A tensor over memory of its own, of which the elements occupy some part.
struct Drawn {
  std::vector<i64> shape, strides;
  DLDataType type{};
  std::vector<std::byte> memory;
  std::uint64_t offset = 0;  ///< of element (0, ..., 0)

  /// The beginning of the data is drawn as well, so that no code relies on byte_offset being 0.
  DLTensor tensor(std::uint64_t byte_offset) {
    DLTensor tensor{};
    tensor.data = memory.data() + (offset - byte_offset);
    tensor.device = kHost;
    tensor.ndim = static_cast<int>(shape.size());
    tensor.dtype = type;
    tensor.shape = shape.data();
    tensor.strides = strides.data();
    tensor.byte_offset = byte_offset;
    return tensor;
  }
};

inline DLDataType draw_type() {
  const params::DType type = (*rc::gen::elementOf(std::vector<params::NamedDType>(
                                  std::begin(params::kDTypes), std::end(params::kDTypes))))
                                 .dtype;
  return {type.code, type.bits, 1};
}

inline std::vector<i64> draw_shape(std::size_t rank_max, i64 extent_max) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, rank_max + 1);
  return *rc::gen::container<std::vector<i64>>(rank, rc::gen::inRange<i64>(0, extent_max + 1));
}

/// Strides that let no two elements meet: the axes in some order, with gaps between and within,
/// each run in either direction.
inline std::vector<i64> draw_distinct_strides(const std::vector<i64>& shape) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  std::vector<i64> strides(shape.size());
  i64 stride = *rc::gen::inRange<i64>(1, 3);
  for (const std::size_t axis : order) {
    strides[axis] = *rc::gen::arbitrary<bool>() ? stride : -stride;
    const i64 padding = *rc::gen::weightedElement<i64>({{3, 0}, {1, 1}, {1, 3}});
    stride *= std::max<i64>(shape[axis] + padding, 1);
  }
  return strides;
}

/// Any strides at all: elements may coincide.
inline std::vector<i64> draw_strides(const std::vector<i64>& shape) {
  if (*rc::gen::arbitrary<bool>()) return draw_distinct_strides(shape);
  return *rc::gen::container<std::vector<i64>>(shape.size(), rc::gen::inRange<i64>(-7, 8));
}

/// Memory for a layout, with some bytes more at either end: no alignment.
inline Drawn around_layout(
    std::vector<i64> shape, std::vector<i64> strides, DLDataType type, int first_byte) {
  const Reach around = reach(shape, strides, element_bytes(type));
  const auto before = *rc::gen::inRange<i64>(0, 20);
  const auto after = *rc::gen::inRange<i64>(0, 20);
  const i64 size = before + around.end - around.first + after;
  return {std::move(shape), std::move(strides), type,
      numbered_bytes(static_cast<std::size_t>(size), first_byte),
      static_cast<std::uint64_t>(before - around.first)};
}

/// Calls `visit` with the coordinates of every element, the last axis fastest.
template <class Visit> void for_each_index(const std::vector<i64>& shape, const Visit& visit) {
  for (const i64 extent : shape)
    if (extent == 0) return;
  std::vector<i64> index(shape.size(), 0);
  for (;;) {
    visit(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The elements in row-major order, each a number of its bytes.
inline std::vector<std::uint64_t> elements_of(const DLTensor& tensor) {
  const auto width = static_cast<std::size_t>(element_bytes(tensor.dtype));
  const Extents strides = strides_of(tensor);
  const std::span<const i64> shape = shape_of(tensor);
  std::vector<std::uint64_t> elements;
  for_each_index({shape.begin(), shape.end()}, [&](const std::vector<i64>& index) {
    i64 place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      place += index[axis] * strides[static_cast<int>(axis)];
    std::uint64_t element = 0;
    std::memcpy(&element, first_element(tensor) + place * static_cast<i64>(width), width);
    elements.push_back(element);
  });
  return elements;
}

}  // namespace lockstep::ndarray
