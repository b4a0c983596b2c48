/// @file
/// Activations between the products of a compiled graph.
#pragma once
#include <optional>

#include "backends/cpu/fusion.h"
#include "spec/op.h"

namespace lockstep::cuda {

inline constexpr i64 kFewChannels = 8;          ///< so few leave sixteen bytes mostly empty
inline constexpr i64 kBytesMax = i64{1} << 30;  ///< of packed images and of packed weights

/// An activation of at most 8 bits as the cells that products read (kernels/cells.h): for each
/// position its channels, in whole words or sixteens of bytes, with padding around each image.
struct Packing {
  i64 images, channels, height, width;
  i64 padding[2]{0, 0};

  /// @param shape of an input of conv2d or dense
  explicit Packing(const Shape& shape)
      : images(shape[0]),
        channels(shape[1]),
        height(shape.size == 4 ? shape[2] : 1),
        width(shape.size == 4 ? shape[3] : 1) {}

  i64 lines() const { return height + 2 * padding[0]; }
  i64 columns() const { return width + 2 * padding[1]; }
  i64 position_bytes() const {
    const i64 grain = channels > kFewChannels ? 16 : 4;
    return ceil_div(channels, grain) * grain;
  }
  i64 line_bytes() const { return columns() * position_bytes(); }
  i64 image_bytes() const { return lines() * line_bytes(); }
  i64 bytes() const { return images * image_bytes(); }
  /// The offset at which an image begins that has only this much padding.
  i64 offset(i64 above, i64 left) const {
    return (padding[0] - above) * line_bytes() + (padding[1] - left) * position_bytes();
  }
};

/// What a product does in a compiled graph besides multiplying.
struct Fusion {
  cpu::Finish finish{};
  View added{};  ///< the tensor that `finish` adds, without data: an input after the call's
  std::optional<Packing> x{}, addend{}, y{};  ///< of those images that lie packed
};

}  // namespace lockstep::cuda
