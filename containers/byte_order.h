/// @file
/// Little-endian numbers in bytes of any alignment, the same on hosts of either byte order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace lockstep::params {

/// The number in the first `width` bytes, at most 8; an optimizer sees one load in it.
constexpr std::uint64_t load_little_endian(const std::byte* from, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return value;
}

/// The number of type T that starts here.
template <std::integral T> constexpr T load_little_endian(const std::byte* from) {
  return static_cast<T>(load_little_endian(from, sizeof(T)));
}

/// Writes the lowest `width` bytes of a number.
constexpr void store_little_endian(std::byte* to, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

/// Writes a number of type T.
template <std::integral T> constexpr void store_little_endian(std::byte* to, T value) {
  store_little_endian(to, static_cast<std::uint64_t>(value), sizeof(T));
}

}  // namespace lockstep::params
