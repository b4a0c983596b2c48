#include "containers/params/elements.h"

#include <array>
#include <bit>
#include <charconv>

#include "containers/byte_order.h"

namespace lockstep::params {
namespace {

/// Every float16 is a float; a NaN keeps its payload.
float widened(std::uint16_t half) {
  constexpr std::uint32_t kExponent = 0x7C00, kFraction = 0x03FF;
  constexpr int kShift = 13;  // fraction bits that a float has beyond those of a float16
  const std::uint32_t sign = (half & 0x8000U) << 16, magnitude = half & 0x7FFFU;
  if ((magnitude & kExponent) == 0) {
    constexpr float kSmallest = 0x1p-24F;
    const float value = static_cast<float>(magnitude) * kSmallest;
    return sign ? -value : value;
  }
  const std::uint32_t bits = (magnitude & kExponent) == kExponent
                                 ? 0x7F800000 | (magnitude & kFraction) << kShift
                                 : (magnitude << kShift) + ((127U - 15U) << 23);
  return std::bit_cast<float>(sign | bits);
}

}  // namespace

std::uint64_t element_count(const Tensor& tensor) {
  return tensor.bytes.size() / static_cast<std::uint64_t>(tensor.dtype.bytes());
}

Element element(const Tensor& tensor, std::uint64_t index) {
  const auto width = static_cast<std::size_t>(tensor.dtype.bytes());
  const std::uint64_t bits = load_little_endian(tensor.bytes.data() + index * width, width);
  const int unused = 64 - tensor.dtype.bits;
  if (tensor.dtype.code == 0) return static_cast<std::int64_t>(bits << unused) >> unused;
  if (tensor.dtype.code == 1) return bits;
  if (width == 2) return widened(static_cast<std::uint16_t>(bits));
  if (width == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

std::string element_text(const Element& value) {
  std::array<char, 40> text{};
  const auto print = [&](auto number) {
    return std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  };
  return {text.data(), std::visit(print, value)};
}

std::string index_text(std::span<const std::int64_t> shape, std::uint64_t index) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[axis]);
    text.insert(0, (axis == 0 ? "" : ", ") + std::to_string(index % extent));
    index /= extent;
  }
  return "[" + text + "]";
}

}  // namespace lockstep::params
