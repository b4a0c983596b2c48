/// @file
/// Typed tensors as DLTensors, deep copies of them from one device to another, and tensors as
/// arrays and back, without copying where the layout allows it.
#pragma once

#include <memory>
#include <utility>

#include "containers/array/copy.h"
#include "containers/array/ndarray.h"
#include "containers/tensor/tensor.h"

namespace lockstep::ndarray {

/// The host as DLPack writes it.
constexpr DLDevice to_dldevice(CpuDevice) { return kHost; }
/// A CUDA device as DLPack writes it.
constexpr DLDevice to_dldevice(GpuDevice device) { return {kDLCUDA, device.device_id}; }

/// The type of an element as DLPack writes it, with one lane.
template <Element T> constexpr DLDataType to_dltype() {
  return {dtype_of<T>().code, dtype_of<T>().bits, 1};
}

/// The tensor as a DLTensor that points into it: valid until the tensor changes or is destroyed.
template <class T, int Rank, class Device>
DLTensor as_dltensor(const Tensor<T, Rank, Device>& tensor) {
  // DLPack has no const; nobody writes to the numbers.
  const auto numbers = [](const Dim<Rank>& dim) { return const_cast<i64*>(dim.span().data()); };
  return {.data = tensor.raw_ptr(),
      .device = to_dldevice(tensor.device()),
      .ndim = Rank,
      .dtype = to_dltype<T>(),
      .shape = numbers(tensor.size()),
      .strides = numbers(tensor.stride()),
      .byte_offset = 0};
}

/// A tensor of its own with these elements, on any device, the last axis fastest.
/// @throws utils::ValueVerifyFatal when resize() left the source without memory.
template <class T, int Rank, class From, class To>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, To> Copy(const Tensor<T, Rank, From>& source, To device) {
  source.require_memory();
  Tensor<T, Rank, To> result(source.size(), device);
  copy(as_dltensor(source), as_dltensor(result));
  return result;
}

/// A copy on the device of the source.
template <class T, int Rank, class Device>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, Device> Copy(const Tensor<T, Rank, Device>& source) {
  return Copy(source, source.device());
}

namespace detail {

/// Refuses null and an array of another rank or type.
void require(const NDArray& array, int rank, DLDataType dtype);
/// Refuses what no tensor may write to: read-only memory, a negative stride, and elements that
/// share memory or are not aligned.
void require_tensor_layout(const NDArray& array, std::size_t alignment);
/// Where an array is. Refuses a device of another kind.
CpuDevice device_of(const NDArray& array, CpuDevice kind);
GpuDevice device_of(const NDArray& array, GpuDevice kind);

}  // namespace detail

/// An array that shares the tensor's memory and keeps it. Either sees what the other writes, until
/// the array has to detach itself from other arrays.
/// @throws utils::ValueVerifyFatal when resize() left the tensor without memory.
template <class T, int Rank, class Device>
NDArray to_ndarray(const Tensor<T, Rank, Device>& tensor) {
  using Memory = typename Tensor<T, Rank, Device>::Memory;
  tensor.require_memory();
  return NDArray::adopt(as_dltensor(tensor), std::make_unique<Memory>(tensor.allocation()), false);
}

/// A tensor that shares the memory of an array and keeps it. A tensor can be written to: the array
/// is detached from all others first, as in mutable_data().
/// @throws utils::ValueVerifyFatal for null, for another rank, type or kind of device, for an array
///         that is read-only, and for a layout that no tensor can have: a negative stride, elements
///         that share memory or are not aligned. copy_to_tensor() takes all of these but null.
template <Element T, int Rank, class Device> Tensor<T, Rank, Device> to_tensor(NDArray& array) {
  detail::require(array, Rank, to_dltype<T>());
  const Device device = detail::device_of(array, Device());
  detail::require_tensor_layout(array, alignof(T));
  void* const first = array.mutable_data();
  const i64 length = minimal_length(array.shape(), array.strides());
  auto memory = std::make_shared<const Allocation<Device>>(first,
      static_cast<std::size_t>(length) * sizeof(T), device,
      [keep = array](void*) mutable { keep.reset(); });
  return {std::move(memory), to_dim<Rank>(array.shape()), to_dim<Rank>(array.strides()), 0};
}

/// A tensor of its own with the elements of an array of any layout, on any device.
/// @throws utils::ValueVerifyFatal for null and for another rank or type.
template <Element T, int Rank, class Device>
Tensor<T, Rank, Device> copy_to_tensor(const NDArray& array, Device device) {
  detail::require(array, Rank, to_dltype<T>());
  Tensor<T, Rank, Device> tensor(to_dim<Rank>(array.shape()), device);
  copy(array.tensor(), as_dltensor(tensor));
  return tensor;
}

}  // namespace lockstep::ndarray
