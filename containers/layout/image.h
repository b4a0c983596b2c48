/// @file
/// Layouts as image libraries see them: padding by the sides of an image, and axes in their order.
#pragma once

#include "containers/layout/shape_descriptor.h"

namespace lockstep::ndarray {

/// Elements added around the last two axes, height and width. The sides are named because their
/// order is not the same everywhere.
struct ImagePadding {
  i64 top = 0;     ///< rows before the first
  i64 right = 0;   ///< elements behind the last of a row
  i64 bottom = 0;  ///< rows behind the last
  i64 left = 0;    ///< elements before the first of a row
  /// Whether all four sides are equal.
  constexpr bool operator==(const ImagePadding&) const = default;
};

/// Enough room for any kernel: a border of 4, and to the right 32 more, because kernels that take
/// 32 elements at a time read so far past the last.
constexpr ImagePadding automatic_padding(int rank) {
  constexpr i64 kBorder = 4;
  constexpr i64 kVector = 32;
  ImagePadding padding;
  if (rank >= 1) {
    padding.left = kBorder;
    padding.right = kBorder + kVector;
  }
  if (rank >= 2) padding.top = padding.bottom = kBorder;
  return padding;
}

/// The smallest padding that has room for both.
constexpr ImagePadding extended(const ImagePadding& a, const ImagePadding& b) {
  return {.top = max(a.top, b.top),
      .right = max(a.right, b.right),
      .bottom = max(a.bottom, b.bottom),
      .left = max(a.left, b.left)};
}

/// The descriptor of a tensor whose last two axes, or whose only one, are padded.
/// @throws utils::ValueVerifyFatal for a negative side and for a side that the rank lacks.
constexpr ShapeDescriptor image_descriptor(
    params::DType dtype, Order order, const Extents& shape, const ImagePadding& padding) {
  if (padding.top < 0 || padding.right < 0 || padding.bottom < 0 || padding.left < 0)
    refuse("a side of an image is padded by less than 0");
  Extents paddings = Extents::filled(shape.size, 0);
  Extents offsets = paddings;
  const auto pad = [&](int axis, i64 before, i64 after) {
    if (axis >= 0) {
      paddings[axis] = add(before, after, "a padding");
      offsets[axis] = before;
    } else if (before != 0 || after != 0) {
      refuse("a side of an image is padded that a tensor of rank " + std::to_string(shape.size) +
          " lacks");
    }
  };
  require_rank(static_cast<std::size_t>(shape.size));
  pad(shape.size - 1, padding.left, padding.right);
  pad(shape.size - 2, padding.top, padding.bottom);
  return paddedBufferDescriptor(dtype, order, shape, paddings, offsets);
}

/// A tensor as image libraries describe it: the last axis first, and in bytes.
struct ReversedView {
  Extents shape;    ///< extents in elements, the innermost axis first
  Extents strides;  ///< steps in bytes, in the same order
  i64 offset = 0;   ///< of the first element, in bytes from the beginning of the buffer
  i64 total = 0;    ///< the length of the buffer
  /// Whether two views describe the same elements.
  constexpr bool operator==(const ReversedView&) const = default;
};

/// The view of a descriptor.
/// @throws utils::ValueVerifyFatal when a number of bytes does not fit int64.
constexpr ReversedView reversed_view(const ShapeDescriptor& d) {
  require_rank(static_cast<std::size_t>(d.shape.size));
  const i64 bytes = d.dtype.bytes();
  ReversedView view;
  for (int axis = d.shape.size - 1; axis >= 0; --axis) {
    view.shape.push(d.shape[axis]);
    view.strides.push(multiply(d.strides[axis], bytes, "a stride in bytes"));
  }
  view.offset = multiply(d.offset, bytes, "the offset in bytes");
  view.total = multiply(d.allocated, bytes, "the length in bytes");
  return view;
}

}  // namespace lockstep::ndarray
