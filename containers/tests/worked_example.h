/// @file
/// The worked example of the parameter file, and ways to build faulty files from it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "containers/params/params.h"

namespace lockstep::params {

using File = std::vector<std::byte>;

/// More than any machine has memory for.
inline constexpr std::int64_t kHuge = std::int64_t{1} << 60;

/// Names "w" and "b0"; w is int32 [2,2] {1,2,-3,4}, b0 the int8 scalar 7.
inline constexpr std::array<unsigned char, 164> kWorkedExample = {
    0xb7, 0x9c, 0x04, 0x05, 0x4f, 0x8d, 0xe5, 0xf7,  //   0 magic
    0, 0, 0, 0, 0, 0, 0, 0,                          //   8 reserved
    2, 0, 0, 0, 0, 0, 0, 0,                          //  16 names
    1, 0, 0, 0, 0, 0, 0, 0, 'w',                     //  24
    2, 0, 0, 0, 0, 0, 0, 0, 'b', '0',                //  33
    2, 0, 0, 0, 0, 0, 0, 0,                          //  43 values
    0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd,  //  51 magic of the first tensor
    0, 0, 0, 0, 0, 0, 0, 0,                          //  59 reserved
    1, 0, 0, 0, 0, 0, 0, 0,                          //  67 device type, device id
    2, 0, 0, 0,                                      //  75 dimensions
    0, 0x20, 1, 0,                                   //  79 code, bits, lanes
    2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,  //  83 extents
    16, 0, 0, 0, 0, 0, 0, 0,                         //  99 size
    1, 0, 0, 0, 2, 0, 0, 0,                          // 107 data
    0xfd, 0xff, 0xff, 0xff, 4, 0, 0, 0,              // 115
    0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd,  // 123 magic of the second tensor
    0, 0, 0, 0, 0, 0, 0, 0,                          // 131 reserved
    1, 0, 0, 0, 0, 0, 0, 0,                          // 139 device type, device id
    0, 0, 0, 0,                                      // 147 dimensions
    0, 0x08, 1, 0,                                   // 151 code, bits, lanes
    1, 0, 0, 0, 0, 0, 0, 0,                          // 155 size
    7,                                               // 163 data
};

inline File worked_example() {
  const auto bytes = std::as_bytes(std::span(kWorkedExample));
  return {bytes.begin(), bytes.end()};
}

inline Bytes bytes_of(std::initializer_list<int> values) {
  File bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return Bytes::copy(bytes);
}

inline std::vector<NamedTensor> worked_tensors() {
  const std::vector<std::int32_t> values = {1, 2, -3, 4};
  return {{"w", from_int32({2, 2}, values)}, {"b0", {{0, 8}, {}, bytes_of({7})}}};
}

/// The file with `width` bytes at `offset` replaced by a number.
inline File patched(File file, std::size_t offset, std::size_t width, std::int64_t value) {
  for (std::size_t i = 0; i < width; ++i)
    file[offset + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  return file;
}

/// The file with `width` bytes at `offset` in reverse order.
inline File reversed(File file, std::size_t offset, std::size_t width) {
  const auto first = file.begin() + static_cast<std::ptrdiff_t>(offset);
  std::reverse(first, first + static_cast<std::ptrdiff_t>(width));
  return file;
}

inline File without(File file, std::size_t offset) {
  file.erase(file.begin() + static_cast<std::ptrdiff_t>(offset));
  return file;
}

inline File prefix(const File& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

inline File with_bytes(File file, std::initializer_list<int> more) {
  for (int value : more) file.push_back(static_cast<std::byte>(value));
  return file;
}

/// A file with a fault, and what the error that names it says.
struct FaultyFile {
  std::string_view label;
  std::uint64_t offset;
  std::optional<std::string> tensor;
  File file;
};

template <class Call> void expect_error(const FaultyFile& expected, Call call) {
  SCOPED_TRACE(std::string(expected.label) + " at " + std::to_string(expected.offset));
  try {
    call();
    ADD_FAILURE() << "nothing was wrong";
  } catch (const Error& error) {
    EXPECT_EQ(error.label(), expected.label) << error.what();
    EXPECT_EQ(error.offset(), expected.offset) << error.what();
    EXPECT_EQ(error.tensor(), expected.tensor) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(expected.label), std::string_view::npos);
  }
}

/// The label of the error that a call ends with; empty where it ends without.
template <class Call> std::string_view label_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.label();
  }
  return {};
}

}  // namespace lockstep::params
