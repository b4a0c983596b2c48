/// @file
/// Architectures of the literature, and the blocks that they repeat.
#pragma once
#include <span>
#include <string_view>

#include "reference/graph/zoo/builder.h"

namespace lockstep::graph::zoo {

/// The seed of the networks whose digests are committed.
inline constexpr u64 kSeed = 1;
/// The extents of images are multiples of it: the networks halve them five times.
inline constexpr i64 kStride = 32;
inline constexpr i64 kMaxSize = 1024;  ///< of an image

struct Architecture {
  std::string_view name, text;
  i64 size;  ///< of its image, height and width
  Network (*make)(Builder net);
};

std::span<const Architecture> architectures();
/// The architecture of this name; null if there is none.
const Architecture* find_architecture(std::string_view name);
/// The network for images of 3 x size x size.
Network make(const Architecture& architecture, u64 seed, i64 size, i64 images = 1);

/// ResNet: two convolutions of 3x3, or 1x1, 3x3 and 1x1 to four times the channels, added to the
/// block's input. A projection fits the input where the channels or the stride need it.
Value basic_block(Builder& net, const Value& x, i64 channels, i64 stride);
Value bottleneck(Builder& net, const Value& x, i64 channels, i64 stride);
/// MobileNet v2: expanded `factor` times, filtered by depth, projected without activation.
Value inverted_residual(Builder& net, const Value& x, i64 factor, i64 channels, i64 stride);
/// SqueezeNet: squeezed by 1x1, then expanded by 1x1 and 3x3 beside each other.
Value fire(Builder& net, const Value& x, i64 squeezed, i64 expanded);

/// YOLO v3 tiny: boxes of two scales, as rows (id, score, x1, y1, x2, y2) in quarters of a pixel,
/// the best first of those that overlap.
Network yolov3_tiny(Builder net);

}  // namespace lockstep::graph::zoo
