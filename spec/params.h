/// @file
/// The parameter file as data: its fields in file order, its limits, its element types, and every
/// reason for which a strict reader rejects a file. Readers and writers take numbers, error ids and
/// sentences from here.
///
/// All numbers are little-endian and packed without padding. A file is
///   magic, reserved, N, N x (length, name), N, N x record
/// and a record is
///   magic, reserved, device_type, device_id, ndim, code, bits, lanes, ndim x extent, size, data.
/// The data is row-major and compact. One ordered list of (name, tensor) has exactly one encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "spec/utf8.h"

namespace lockstep::params {

inline constexpr std::uint64_t kFileMagic = 0xF7E58D4F05049CB7;
inline constexpr std::uint64_t kRecordMagic = 0xDD5E40F096B4A13F;
inline constexpr std::int32_t kDeviceType = 1;  ///< host memory; data is copied there to be saved
inline constexpr std::int32_t kDeviceId = 0;
inline constexpr std::int32_t kMaxDimensions = 32;
inline constexpr std::uint16_t kLanes = 1;

/// One number of the file.
struct Field {
  std::string_view name;
  std::string_view type;  ///< u or i, and the width in bits
  std::string_view rule;

  /// The width in bytes, as the type spells it.
  constexpr int width() const {
    int bits = 0;
    for (char digit : type.substr(1)) bits = bits * 10 + (digit - '0');
    return bits / 8;
  }
};

/// Every number of a file, in file order.
inline constexpr Field kFields[] = {
    {"magic", "u64", "the magic number of a parameter file"},
    {"reserved", "u64", "0"},
    {"name_count", "u64", "N, the number of names"},
    {"name_length", "u64", "bytes of the name that follows: UTF-8 without NUL, may be empty"},
    {"value_count", "u64", "N again; the values come in the order of the names"},
    {"record_magic", "u64", "the magic number of a tensor"},
    {"record_reserved", "u64", "0"},
    {"device_type", "i32", "1, the host"},
    {"device_id", "i32", "0"},
    {"ndim", "i32", "0 to 32; 0 is a scalar"},
    {"dtype_code", "u8", "0 int, 1 uint, 2 float"},
    {"dtype_bits", "u8", "8, 16, 32 or 64; a float has no 8"},
    {"dtype_lanes", "u16", "1"},
    {"extent", "i64", "one per dimension, 0 or more"},
    {"size", "i64", "bytes of data: the product of the extents times the bytes of an element"},
};

/// One reason to reject a file; `id` is the error id in every program and binding.
struct Reject {
  std::string_view id;
  std::string_view text;
};

/// Every reason in the order in which a reader checks. If a file has several faults, the first one
/// is the error.
inline constexpr Reject kRejects[] = {
    {"too_short", "the file ends inside a number"},
    {"magic", "this is not a parameter file: its magic number is wrong"},
    {"magic_byte_swapped", "the file's magic number is byte-swapped: written big-endian"},
    {"reserved", "the file's reserved number must be 0"},
    {"name_count", "the file is too short for the declared number of names"},
    {"name_length", "the file is too short for the declared length of the name"},
    {"name_nul", "a name must not contain a NUL character"},
    {"name_utf8", "a name must be valid UTF-8"},
    {"duplicate_name", "a name must not occur twice"},
    {"value_count", "there must be as many values as names"},
    {"record_magic", "the tensor's magic number is wrong"},
    {"record_magic_byte_swapped", "the tensor's magic number is byte-swapped: written big-endian"},
    {"record_reserved", "the tensor's reserved number must be 0"},
    {"device", "a stored tensor must be on device type 1 (the host), device id 0"},
    {"ndim", "a tensor must have 0 to 32 dimensions"},
    {"dtype_code", "the type code must be 0 (int), 1 (uint) or 2 (float)"},
    {"dtype_sub_byte", "the bits of an element must be a positive multiple of 8"},
    {"dtype_bits", "no element of this type code has this number of bits"},
    {"dtype_lanes", "the lanes of an element must be 1"},
    {"shape_beyond", "the file is too short for the declared number of dimensions"},
    {"negative_extent", "an extent must not be negative"},
    {"shape_overflow", "the product of the non-zero extents and the element size must fit int64"},
    {"size", "the size must be the product of the extents times the bytes of an element"},
    {"data_beyond", "the file is too short for the declared size of the data"},
    {"trailing", "nothing may follow the last tensor"},
};

/// The field with this name; an unknown name does not compile.
consteval const Field& field(std::string_view name) {
  for (const Field& row : kFields)
    if (row.name == name) return row;
  throw "no such field";
}

/// The reason with this id; an unknown id does not compile.
consteval const Reject& reject(std::string_view id) {
  for (const Reject& row : kRejects)
    if (row.id == id) return row;
  throw "no such reason to reject a file";
}

/// The type of an element.
struct DType {
  std::uint8_t code;  ///< 0 int, 1 uint, 2 float
  std::uint8_t bits;

  constexpr bool operator==(const DType&) const = default;
  constexpr int bytes() const { return (bits + 7) / 8; }
};

/// A legal element type and its customary name.
struct NamedDType {
  DType dtype;
  std::string_view name;
};

inline constexpr NamedDType kDTypes[] = {
    {{0, 8}, "int8"},
    {{0, 16}, "int16"},
    {{0, 32}, "int32"},
    {{0, 64}, "int64"},
    {{1, 8}, "uint8"},
    {{1, 16}, "uint16"},
    {{1, 32}, "uint32"},
    {{1, 64}, "uint64"},
    {{2, 16}, "float16"},
    {{2, 32}, "float32"},
    {{2, 64}, "float64"},
};

/// The name of a legal element type; empty for any other.
constexpr std::string_view dtype_name(DType dtype) {
  for (const NamedDType& row : kDTypes)
    if (row.dtype == dtype) return row.name;
  return {};
}

/// Whether some legal element type has this code.
constexpr bool dtype_code_known(std::uint8_t code) {
  for (const NamedDType& row : kDTypes)
    if (row.dtype.code == code) return true;
  return false;
}

/// The reason to reject the bits of an element type whose code is known; null when it is legal.
constexpr const Reject* dtype_bits_fault(DType dtype) {
  if (dtype.bits == 0 || dtype.bits % 8 != 0) return &reject("dtype_sub_byte");
  return dtype_name(dtype).empty() ? &reject("dtype_bits") : nullptr;
}

/// The reason to reject a name by itself; null when it is legal.
constexpr const Reject* name_fault(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) return &reject("name_nul");
  while (!name.empty()) {
    const std::size_t length = utf8_character(name);
    if (length == 0) return &reject("name_utf8");
    name.remove_prefix(length);
  }
  return nullptr;
}

/// The bytes of a tensor. Nothing for an element without bits, for a negative extent, or if the
/// product of the non-zero extents and the element size overflows, even if another extent is 0.
constexpr std::optional<std::int64_t> byte_size(std::span<const std::int64_t> shape, DType dtype) {
  std::int64_t product = dtype.bytes();
  if (product == 0) return std::nullopt;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty |= extent == 0;
    if (extent == 0) continue;
    if (extent > std::numeric_limits<std::int64_t>::max() / product) return std::nullopt;
    product *= extent;
  }
  return empty ? 0 : product;
}

}  // namespace lockstep::params
