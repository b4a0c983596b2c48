/// @file
/// A DLTensor as its fields describe it: what is legal in one, where its elements lie, and which
/// device has them.
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "containers/layout/strides.h"

namespace lockstep::ndarray {

/// The one device of host memory.
inline constexpr DLDevice kHost{kDLCPU, 0};

/// Whether a device is one that memory can be on: the host, or a CUDA device of some number.
bool is_device(DLDevice device);
/// Whether memory of this device is the host's.
bool is_host(DLDevice device);
/// Whether type and number of two devices are equal.
bool same_device(DLDevice a, DLDevice b);
/// Such as "cpu" and "cuda 1".
std::string device_text(DLDevice device);

/// Whether elements of this type can be stored: those of spec/params.h, one lane.
bool is_element_type(DLDataType type);
/// Whether two types of elements are equal, lanes included.
bool same_type(DLDataType a, DLDataType b);
/// The bytes of an element of such a type.
inline i64 element_bytes(DLDataType type) { return type.bits / 8; }

/// The extents, the outermost axis first.
inline std::span<const i64> shape_of(const DLTensor& tensor) {
  return {tensor.shape, static_cast<std::size_t>(tensor.ndim)};
}
/// The strides in elements; compact ones where the tensor has none of its own.
Extents strides_of(const DLTensor& tensor);
/// The bytes of all elements of a tensor that verify() lets pass.
std::size_t byte_count(const DLTensor& tensor);
/// Element (0, ..., 0).
inline std::byte* first_element(const DLTensor& tensor) {
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

/// The bytes that elements occupy, counted from the first byte of element (0, ..., 0).
struct Reach {
  i64 first = 0;  ///< of the lowest byte, at most 0
  i64 end = 0;    ///< one past the highest; 0 where there is no element
};

/// What reach() returns where it finds no bytes: nothing for an empty array; for others it throws.
/// @throws utils::ValueVerifyFatal as reach() does.
Reach reach_of_nothing(std::span<const i64> shape, i64 element_bytes);

/// The bytes that elements occupy, in one pass, because this is most of the time that a view takes.
/// @throws utils::ValueVerifyFatal for an extent below 0, and when the place of an element or the
///         bytes of the extents other than 0 do not fit int64.
inline Reach reach(std::span<const i64> shape, std::span<const i64> strides, i64 element_bytes) {
  i64 first = 0, end = element_bytes, bytes = element_bytes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const i64 extent = shape[axis];
    i64 steps = 0;
    if (extent < 1 || __builtin_mul_overflow(bytes, extent, &bytes) ||
        __builtin_mul_overflow(strides[axis], extent - 1, &steps) ||
        __builtin_mul_overflow(steps, element_bytes, &steps) ||
        (steps < 0 ? __builtin_add_overflow(first, steps, &first)
                   : __builtin_add_overflow(end, steps, &end))) {
      return reach_of_nothing(shape, element_bytes);
    }
  }
  return {first, end};
}

/// Whether no two elements share a byte, whichever way the strides run. Like is_disjoint(), which
/// it uses, it says no where only a search could tell.
bool elements_are_distinct(std::span<const i64> shape, std::span<const i64> strides);

/// Refuses a type, shape or device that no array has; `name` names the array in the message.
/// @throws utils::ValueVerifyFatal for more than 32 extents, an extent below 0, a type or a device
///         that is_element_type() and is_device() refuse, and for more bytes than int64 counts:
///         the product of the extents other than 0, so that the order of the axes does not matter.
void verify(std::span<const i64> shape, DLDataType type, DLDevice device, std::string_view name);

/// Refuses a tensor that is not well formed.
/// @throws utils::ValueVerifyFatal for what the other verify() refuses, a rank below 0, a missing
///         shape, elements that int64 cannot reach, and missing data.
void verify(const DLTensor& tensor, std::string_view name);

/// Memory of a device that is known only at run time; see memory/device.h.
void* acquire(std::size_t bytes, DLDevice device);
/// Gives back what acquire() returned for this size and this device.
void release(void* memory, std::size_t bytes, DLDevice device) noexcept;
/// Copies bytes that do not overlap, and returns when they have arrived. @throws
/// utils::LogMessageFatal when a device fails.
void copy_bytes(
    void* to, DLDevice to_device, const void* from, DLDevice from_device, std::size_t bytes);

}  // namespace lockstep::ndarray
