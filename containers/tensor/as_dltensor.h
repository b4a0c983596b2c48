/// @file
/// A typed tensor in the words of DLPack.
#pragma once

#include "containers/array/dltensor.h"
#include "containers/tensor/tensor.h"

namespace lockstep::ndarray {

constexpr DLDevice to_dldevice(CpuDevice) { return kHost; }
constexpr DLDevice to_dldevice(GpuDevice device) { return {kDLCUDA, device.device_id}; }

template <Element T>
constexpr DLDataType to_dltype() {
  return {dtype_of<T>().code, dtype_of<T>().bits, 1};
}

/// It points into the tensor and is valid until the tensor changes or is destroyed.
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

}  // namespace lockstep::ndarray
