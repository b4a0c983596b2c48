/// @file
/// Tensors in host memory that tests look at.
#pragma once
#include <numeric>
#include <vector>

#include "containers/tensor/tensor.h"

namespace lockstep::ndarray {

inline constexpr CpuDevice kCpu;

template <class T, int Rank> using CpuTensor = Tensor<T, Rank, CpuDevice>;

/// 0, 1, 2, ... in row-major order.
template <int Rank> CpuTensor<int, Rank> counting(const Dim<Rank>& size) {
  CpuTensor<int, Rank> t(size, kCpu);
  std::iota(t.raw_ptr(), t.raw_ptr() + t.numel(), 0);
  return t;
}

/// The elements of a compact tensor.
template <class T, int Rank> std::vector<T> elements(const CpuTensor<T, Rank>& t) {
  return {t.raw_ptr(), t.raw_ptr() + t.numel()};
}

}  // namespace lockstep::ndarray
