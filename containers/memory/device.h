/// @file
/// Where memory is: the two kinds of device, and how bytes are taken, given back and moved there.
/// A device is a type, so that tensors of different kinds do not mix, and a value that says which
/// one of its kind.
#pragma once

#include <cstddef>

namespace lockstep::ndarray {

/// The host; all values of this type are equal.
struct CpuDevice {
  /// Always: there is one host.
  constexpr bool operator==(const CpuDevice&) const = default;
};

/// A CUDA device, by the number that the runtime counts it with.
struct GpuDevice {
  constexpr GpuDevice() = default;
  /// The device of this number.
  constexpr explicit GpuDevice(int id) : device_id(id) {}
  /// Whether the numbers are equal.
  constexpr bool operator==(const GpuDevice&) const = default;

  int device_id = 0;  ///< from 0 on, as the CUDA runtime counts
};

/// The alignment of memory from acquire(), on every device.
inline constexpr std::size_t kMemoryAlignment = 64;

/// Takes memory of a device; `bytes` > 0. Its contents are whatever was there.
/// @throws utils::LogMessageFatal when there is too little, and for a GPU when this build or this
///         machine has none; utils::ValueVerifyFatal for a GPU that this machine lacks.
void* acquire(std::size_t bytes, CpuDevice device);
/// The same of a CUDA device.
void* acquire(std::size_t bytes, GpuDevice device);

/// Gives back what acquire() returned for this size and this device.
void release(void* memory, std::size_t bytes, CpuDevice device) noexcept;
/// The same of a CUDA device.
void release(void* memory, std::size_t bytes, GpuDevice device) noexcept;

/// Copies bytes that do not overlap, and returns when they have arrived.
/// @throws utils::LogMessageFatal when a device fails.
void copy_bytes(void* to, CpuDevice, const void* from, CpuDevice, std::size_t bytes);
/// From the host to a CUDA device.
void copy_bytes(void* to, GpuDevice, const void* from, CpuDevice, std::size_t bytes);
/// From a CUDA device to the host.
void copy_bytes(void* to, CpuDevice, const void* from, GpuDevice, std::size_t bytes);
/// Within a CUDA device, or from one to another.
void copy_bytes(void* to, GpuDevice, const void* from, GpuDevice, std::size_t bytes);

}  // namespace lockstep::ndarray
