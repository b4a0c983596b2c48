/// @file
/// A call of conv2d or dense as the plans of its products see it, and what becomes of its sums.
#pragma once
#include <optional>

#include "backends/cuda/families.h"
#include "backends/cuda/kernels/epilogue.h"

namespace lockstep::cuda {

/// A call as a convolution. A matrix is a list of images of one position.
struct Layer {
  static constexpr i64 kSmallGroup = 16;  ///< channels

  i64 images, groups, inputs, outputs;  ///< channels of a group
  i64 height, width, lines, columns;    ///< of X and of Y
  i64 taps[2]{1, 1}, stride[2]{1, 1}, padding[2]{0, 0}, dilation[2]{1, 1};
  i64 xs[4]{}, ws[4]{}, bias_stride = 0;
  bool has_bias = false;

  i64 positions() const { return lines * columns; }
  i64 padded(int d) const { return (d == 0 ? height : width) + 2 * padding[d]; }
  /// Whether groups have so few channels that tiles of products would be mostly empty.
  bool has_small_groups() const {
    return groups > 1 && inputs < kSmallGroup && outputs < kSmallGroup;
  }
  /// The columns of the product.
  i64 outputs_of_channel() const { return images * positions(); }
  /// Weights at an address, of which a tap has so many words.
  Weights weights(const i32* data, const Divisor& group_words) const {
    return {data, {ws[0], ws[1], ws[2], ws[3]}, static_cast<i32>(inputs), group_words,
        Divisor(taps[1])};
  }
  /// How a kernel moves over an image.
  Window window() const {
    return {Divisor(lines), Divisor(columns), Divisor(taps[1]), static_cast<u32>(taps[0] * taps[1]),
        {stride[0], stride[1]}, {dilation[0], dilation[1]}};
  }
};

/// The call as a convolution, if it is one.
std::optional<Layer> layer_of(const backend::LegalCall& call);

/// The nanoseconds of products that pack what they read, as an H200 took them; endless where they
/// do not serve a call.
i64 packed_nanoseconds(const Arguments& a, const Layer& l);

/// The tensor of a view or, where it is packed, its cells; without data.
template <class Data, class V>
Surface<Data> surface_of(const V& v, const std::optional<Packing>& packing) {
  Surface<Data> s{nullptr, packing.has_value(), false};
  if (packing) {
    const i64 strides[] = {
        packing->image_bytes(), 1, packing->line_bytes(), packing->position_bytes()};
    std::copy_n(strides, 4, s.stride);
  } else {
    std::copy_n(v.stride, v.rank(), s.stride);
  }
  return s;
}

/// The epilogue of a call, to be bound to the data of an execution.
class Ending {
 public:
  Ending(const Arguments& a, const Layer& l);
  bool is_packed() const { return e_.y.is_packed; }
  /// @param threads of the launch
  Epilogue bound(const int32_t* const* in, int32_t* const* out, i64 threads) const;

 private:
  Fusion fusion_;
  bool has_bias_, has_fours_;  // whether channels of groups are whole fours
  std::size_t ports_;          // of the call
  Epilogue e_;
};

}  // namespace lockstep::cuda
