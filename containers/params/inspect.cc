#include "containers/params/inspect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>

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

using Index = std::map<std::string_view, const Tensor*>;

Index index_of(std::span<const NamedTensor> tensors) {
  Index index;
  for (const auto& [name, tensor] : tensors) index.emplace(name, &tensor);
  return index;
}

void compare_values(Difference d, std::vector<Difference>& found) {
  const auto width = static_cast<std::size_t>(d.first->dtype.bytes());
  const std::span<const std::byte> a = d.first->bytes.span(), b = d.second->bytes.span();
  for (std::size_t i = a.size(); i > 0; i -= width) {
    if (std::ranges::equal(a.subspan(i - width, width), b.subspan(i - width, width))) continue;
    ++d.differing;
    d.index = (i - width) / width;
  }
  found.push_back(std::move(d));
}

void compare_tensors(
    const std::string& name, const Tensor& a, const Tensor& b, std::vector<Difference>& found) {
  if (a == b) return;
  if (a.dtype != b.dtype) found.push_back({Aspect::dtype, name, &a, &b});
  if (a.shape != b.shape) found.push_back({Aspect::shape, name, &a, &b});
  if (a.dtype == b.dtype && a.shape == b.shape)
    compare_values({Aspect::values, name, &a, &b}, found);
}

}  // namespace

std::uint64_t element_count(const Tensor& tensor) {
  return tensor.bytes.size() / static_cast<std::uint64_t>(tensor.dtype.bytes());
}

ElementValue element(const Tensor& tensor, std::uint64_t index) {
  const auto width = static_cast<std::size_t>(tensor.dtype.bytes());
  const std::uint64_t bits = load_little_endian(tensor.bytes.data() + index * width, width);
  const int unused = 64 - tensor.dtype.bits;
  if (tensor.dtype.code == 0) return static_cast<std::int64_t>(bits << unused) >> unused;
  if (tensor.dtype.code == 1) return bits;
  if (width == 2) return widened(static_cast<std::uint16_t>(bits));
  if (width == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

std::string element_text(const ElementValue& value) {
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

std::string_view name_of(Aspect aspect) {
  constexpr std::string_view kNames[] = {
      "only_in_first", "only_in_second", "dtype", "shape", "values", "order"};
  return kNames[static_cast<std::size_t>(aspect)];
}

std::vector<Difference> differences(
    std::span<const NamedTensor> first, std::span<const NamedTensor> second) {
  const Index in_first = index_of(first), in_second = index_of(second);
  std::vector<Difference> found;
  bool same_names = first.size() == second.size();
  for (const auto& [name, tensor] : first) {
    const auto other = in_second.find(name);
    if (other == in_second.end()) {
      found.push_back({Aspect::only_in_first, name, &tensor, nullptr});
      same_names = false;
    } else {
      compare_tensors(name, tensor, *other->second, found);
    }
  }
  for (const auto& [name, tensor] : second) {
    if (!in_first.contains(name)) {
      found.push_back({Aspect::only_in_second, name, nullptr, &tensor});
    }
  }
  if (same_names) {
    const auto [a, b] =
        std::ranges::mismatch(first, second, {}, &NamedTensor::name, &NamedTensor::name);
    if (a != first.end()) {
      found.push_back({Aspect::order, a->name, &a->tensor, in_second.at(a->name)});
    }
  }
  return found;
}

}  // namespace lockstep::params
