/// @file
/// The interface between the backend and its kernels: one function per operator.
#pragma once
#include <cuda_runtime_api.h>

#include "backends/cuda/element.h"
#include "spec/info.h"

namespace lockstep::cuda {

/// One execution of a call. The views are in host memory, their data in the device's.
struct Launch {
  Attributes attrs;
  Span<View> in;
  Span<Out> out;
  const View* remote;  ///< the input views once more, in device memory; for variadic operators
  int block;           ///< threads per block
  cudaStream_t stream;
};

inline constexpr int kBlockMax = 256;  ///< threads; leaves each of them enough registers

/// Starts the generic kernel of an operator. Declared here, instantiated in the operator's own
/// unit.
template <Operator Op> void launch(const Launch& l);

/// The parameters of the operator's kernel.
template <Operator Op> Parameters<Op> parameters_of(const Launch& l) {
  static_assert(sizeof(Parameters<Op>) <= 4096, "the parameters of a kernel end there");
  static_assert(std::is_trivially_copyable_v<Parameters<Op>>, "they are copied as bytes");
  Parameters<Op> p{from_attributes<Op>(l.attrs), {}, {}};
  p.in.count = l.in.count;
  if constexpr (kIsVariadic<Op>)
    p.in.item = l.remote;
  else
    for (int k = 0; k < l.in.count; ++k) p.in.item[k] = l.in[k];
  p.out.count = l.out.count;
  for (int k = 0; k < l.out.count; ++k) p.out.item[k] = l.out[k];
  return p;
}

/// How many blocks an operator needs.
template <Operator Op> unsigned blocks_of(const Launch& l) {
  return static_cast<unsigned>(ceil_div(threads_of<Op>(l.out), l.block));
}

}  // namespace lockstep::cuda
