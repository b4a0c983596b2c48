/// @file
/// Builds a network layer by layer, so that its text reads like its table in a paper.
///
/// Weights are integers drawn evenly from -A..A by spec/random.h, and every product of them is
/// followed by cvm_right_shift to 8 bits. The builder knows, by rules on integers, what mean and
/// variance to expect of each tensor, and chooses A and the shift from these and the fan-in such
/// that the result has the standard deviation kDeviation: at 8 bits it neither vanishes nor
/// saturates. Biases take away the mean that a filter's sum would give, as batch normalization does
/// where it is folded into a convolution.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/graph/zoo/network.h"

namespace lockstep::graph::zoo {

/// The standard deviation that the outputs of a layer have, of the 127 that 8 bits hold.
inline constexpr i64 kDeviation = 32;

/// What the elements of a tensor are expected to be.
struct Statistics {
  i64 mean = 0, variance = 1;
};

/// An output of a node.
struct Value {
  int node = 0, output = 0;
  Type type = {};
  Statistics expected = {};

  i64 dim(int axis) const { return type.dim(axis); }
};

/// How a convolution moves over its image.
struct Window {
  i64 stride = 1;
  i64 padding = -1;  ///< -1: half of the kernel, which keeps the extents at stride 1
  i64 groups = 1;
};

class Builder {
 public:
  /// Starts with the variable "data", an image of 8 bits.
  Builder(u64 seed, const Shape& data);

  Value data() const { return values_.front().front(); }

  // Layers with weights and a bias.
  Value conv(const Value& x, i64 channels, i64 kernel, const Window& window = {});
  Value depthwise(const Value& x, i64 kernel, i64 stride = 1);
  Value dense(const Value& x, i64 units);
  /// A dense layer whose sums are the output of the network, and are not shifted.
  Value logits(const Value& x, i64 units);

  // Activations.
  Value relu(const Value& x);
  Value relu6(const Value& x);  ///< 6 is three standard deviations
  Value leaky(const Value& x);  ///< max(x, x / 8)

  /// Largest elements; `whole` also where a window ends beyond the image (ceil_mode).
  Value max_pool(const Value& x, i64 size, i64 stride, i64 padding = 0, bool whole = false);
  /// The sum of each channel over the image, (N, C).
  Value sum_pool(const Value& x);
  /// That sum over a power of two: the mean of the channel, or up to twice as much.
  Value mean_pool(const Value& x);
  /// The sum of two branches, clamped to 8 bits.
  Value add(const Value& x, const Value& y);
  Value concat(const std::vector<Value>& parts, i64 axis = 1);
  Value upsample(const Value& x, i64 scale);

  /// Any call; its first output. @throws std::logic_error where the specification refuses it.
  Value call(std::string_view op, const std::vector<Value>& inputs, const TextAttributes& attrs,
      const Statistics& expected = {});
  /// A further output of the node of `first`.
  Value output(const Value& first, std::size_t number) const;
  /// A parameter with the given elements, with as many bits as they need.
  Value constant(std::string_view name, const Shape& shape, const std::vector<i32>& elements);

  /// The network, with its storage planned.
  Network finish(const std::vector<Value>& heads, std::string postprocess) &&;

 private:
  Value product(std::string_view op, const Value& x, const Shape& weights,
      const TextAttributes& attrs, bool shifted);
  Value parameter(const std::string& name, const Type& type, params::Tensor tensor);
  Value variable(const std::string& name, const Type& type, const Statistics& expected);
  void add_entries(const std::vector<Value>& values);

  u64 seed_;
  Network net_;
  std::map<std::string, int, std::less<>> calls_;  // of each operator
  std::vector<std::vector<Value>> values_;         // by node
};

/// The text of a tuple.
std::string tuple(const std::vector<i64>& entries);

}  // namespace lockstep::graph::zoo
