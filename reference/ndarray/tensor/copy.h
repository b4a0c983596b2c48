/// @file
/// Deep copies of tensors, from one device to another.
#pragma once

#include <type_traits>

#include "reference/ndarray/tensor/tensor.h"

namespace lockstep::ndarray {
namespace detail {

/// Writes elements one after the other, the last axis fastest.
template <class T, int Rank>
void gather(T* to, const T* first, const Dim<Rank>& size, const Dim<Rank>& stride) {
  Dim<Rank> at;
  const i64 count = product(size);
  for (i64 k = 0; k < count; ++k) {
    to[k] = first[linearize(at, stride)];
    for (int axis = Rank - 1; axis >= 0 && ++at[axis] == size[axis]; --axis) at[axis] = 0;
  }
}

}  // namespace detail

/// A tensor of its own with these elements, on any device, the last axis fastest.
/// @throws utils::ValueVerifyFatal when resize() left the source without memory.
template <class T, int Rank, class From, class To>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, To> Copy(const Tensor<T, Rank, From>& source, To device) {
  source.require_memory();
  Tensor<T, Rank, To> copy(source.size(), device);
  const auto bytes = [](i64 elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  if (contiguous(source.size(), source.stride())) {
    copy_bytes(copy.raw_ptr(), device, source.raw_ptr(), source.device(), bytes(source.numel()));
  } else if constexpr (std::is_same_v<From, CpuDevice> && std::is_same_v<To, CpuDevice>) {
    detail::gather(copy.raw_ptr(), source.raw_ptr(), source.size(), source.stride());
  } else {
    // Devices copy what lies together; single elements are picked on the host.
    const i64 length = minimal_length(source.size().span(), source.stride().span());
    auto all = std::make_shared<const Allocation<CpuDevice>>(bytes(length), CpuDevice());
    copy_bytes(all->ptr(), CpuDevice(), source.raw_ptr(), source.device(), bytes(length));
    const Tensor<T, Rank, CpuDevice> there(all, source.size(), source.stride(), 0);
    const Tensor<T, Rank, CpuDevice> compact = Copy(there, CpuDevice());
    copy_bytes(copy.raw_ptr(), device, compact.raw_ptr(), CpuDevice(), bytes(copy.numel()));
  }
  return copy;
}

/// On the device of the source.
template <class T, int Rank, class Device>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, Device> Copy(const Tensor<T, Rank, Device>& source) {
  return Copy(source, source.device());
}

}  // namespace lockstep::ndarray
