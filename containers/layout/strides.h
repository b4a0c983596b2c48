/// @file
/// Shapes and strides as spans of int64, in elements: what every layout is made of. The stride of
/// an axis of extent 1 is never stepped along; nothing here depends on it.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "containers/checked.h"
#include "spec/params.h"
#include "spec/shape.h"
#include "spec/text.h"

namespace lockstep::ndarray {

/// A number per axis. It counts past its capacity, so that a rank which is too high stays visible.
using Extents = List<params::kMaxDimensions>;

/// Which axis moves fastest: the last (c) or the first (f). The values are the letters' codes.
enum class Order : char { kC = 'c', kF = 'f' };

/// The k-th axis of `rank` counted from the one that moves fastest.
constexpr int from_innermost(int k, int rank, Order order) {
  return order == Order::kC ? rank - 1 - k : k;
}

/// @throws utils::ValueVerifyFatal for more axes than a layout can have.
constexpr void require_rank(std::size_t rank) {
  if (std::cmp_greater(rank, params::kMaxDimensions))
    refuse("rank " + std::to_string(rank) + "; at most " + std::to_string(params::kMaxDimensions));
}

/// Whether some extent is 0, so that there is no element.
constexpr bool is_empty(std::span<const i64> shape) {
  for (const i64 extent : shape)
    if (extent == 0) return true;
  return false;
}

/// The number of elements of a shape.
/// @throws utils::ValueVerifyFatal for a negative extent, and when the product of the extents other
///         than 0 does not fit int64: whether a shape is legal depends on no order of its axes.
constexpr i64 element_count(std::span<const i64> shape) {
  i64 count = 1;
  for (const i64 extent : shape) {
    if (extent < 0) refuse("a negative extent: " + std::to_string(extent));
    if (extent > 0) count = multiply(count, extent, "the number of elements");
  }
  return is_empty(shape) ? 0 : count;
}

/// The strides of a shape whose elements lie one after the other.
/// @throws what element_count throws, and utils::ValueVerifyFatal for too many axes.
constexpr Extents compact_strides(std::span<const i64> shape, Order order = Order::kC) {
  require_rank(shape.size());
  static_cast<void>(element_count(shape));
  const int rank = static_cast<int>(shape.size());
  Extents strides = Extents::filled(rank, 0);
  i64 stride = 1;
  for (int k = 0; k < rank; ++k) {
    const int axis = from_innermost(k, rank, order);
    strides[axis] = stride;
    stride *= shape[static_cast<std::size_t>(axis)];
  }
  return strides;
}

/// Whether the elements lie one after the other in this order. Those of an empty shape do.
constexpr bool is_compact(
    std::span<const i64> shape, std::span<const i64> strides, Order order = Order::kC) {
  if (element_count(shape) == 0) return true;
  const int rank = static_cast<int>(shape.size());
  i64 compact = 1;
  for (int k = 0; k < rank; ++k) {
    const auto axis = static_cast<std::size_t>(from_innermost(k, rank, order));
    if (shape[axis] != 1 && strides[axis] != compact) return false;
    compact *= shape[axis];
  }
  return true;
}

/// One past the highest element that is addressed, counted from the first; 0 if there is none.
/// @throws utils::ValueVerifyFatal for a negative extent or stride and when it does not fit int64.
constexpr i64 minimal_length(std::span<const i64> shape, std::span<const i64> strides) {
  if (element_count(shape) == 0) return 0;
  i64 length = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] < 0) refuse("a negative stride: " + std::to_string(strides[axis]));
    const i64 reach = multiply(shape[axis] - 1, strides[axis], "the length of a layout");
    length = add(length, reach, "the length of a layout");
  }
  return length;
}

/// The axes that are stepped along, the shortest step first.
struct SteppedAxes {
  /// An axis with more than one element, or with none.
  struct Axis {
    i64 extent;  ///< never 1
    i64 stride;  ///< the step to the next element, in elements
  };
  Axis axis[params::kMaxDimensions]{};  ///< the first `count` are in use
  std::size_t count = 0;                ///< how many axes are stepped along
  bool is_forward = true;               ///< whether every step is
};

/// The axes of a shape whose extent is not 1, by their strides. @throws utils::ValueVerifyFatal for
/// too many axes.
constexpr SteppedAxes stepped_axes(std::span<const i64> shape, std::span<const i64> strides) {
  require_rank(shape.size());
  SteppedAxes axes;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (shape[a] == 1) continue;
    axes.is_forward = axes.is_forward && strides[a] > 0;
    std::size_t k = axes.count++;
    for (; k > 0 && axes.axis[k - 1].stride > strides[a]; --k) axes.axis[k] = axes.axis[k - 1];
    axes.axis[k] = {shape[a], strides[a]};
  }
  return axes;
}

/// Whether every step is forward and in some order of the axes each one spans all that the ones
/// before it span, the room behind their last element included.
constexpr bool is_nested(std::span<const i64> shape, std::span<const i64> strides) {
  if (is_empty(shape)) return true;
  const SteppedAxes axes = stepped_axes(shape, strides);
  for (std::size_t k = 1; k < axes.count; ++k) {
    const auto span = try_multiply(axes.axis[k - 1].stride, axes.axis[k - 1].extent);
    if (!span || axes.axis[k].stride < *span) return false;
  }
  return axes.is_forward;
}

/// Whether every step is forward and in some order of the axes each one steps over the last element
/// that the ones before it reach. The elements of every slice of a compact tensor do so, and then
/// no two share memory. Those of another layout might not either, but telling that takes a search.
/// @throws utils::ValueVerifyFatal when their length does not fit int64.
constexpr bool is_disjoint(std::span<const i64> shape, std::span<const i64> strides) {
  if (is_empty(shape)) return true;
  const SteppedAxes axes = stepped_axes(shape, strides);
  if (!axes.is_forward) return false;
  i64 last = 0;
  for (std::size_t k = 0; k < axes.count; ++k) {
    const auto [extent, stride] = axes.axis[k];
    if (stride <= last) return false;
    last =
        add(last, multiply(extent - 1, stride, "the length of a layout"), "the length of a layout");
  }
  return true;
}

}  // namespace lockstep::ndarray
