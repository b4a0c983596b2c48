/// @file
/// Deep copies of tensors, from one device to another.
#pragma once

#include "containers/array/copy.h"
#include "containers/tensor/as_dltensor.h"

namespace lockstep::ndarray {

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

/// On the device of the source.
template <class T, int Rank, class Device>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, Device> Copy(const Tensor<T, Rank, Device>& source) {
  return Copy(source, source.device());
}

}  // namespace lockstep::ndarray
