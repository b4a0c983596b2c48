/// @file
/// 32-bit integers as little-endian bytes, and those as Base64 (RFC 4648, section 4).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/arithmetic.h"

namespace lockstep::judge {

/// The bytes of integers, the same on every machine.
std::string little_endian(std::span<const i32> values);

/// The integers as base64.
std::string to_base64(const std::vector<i32>& values);

/// Decoded integers, and how many bytes are left after the last whole one.
struct FromBase64 {
  std::vector<i32> values;
  int bytes_left = 0;
};

/// Decodes strictly: no blanks, all padding, unused bits 0. None if the text is no base64.
std::optional<FromBase64> from_base64(std::string_view text);

}  // namespace lockstep::judge
