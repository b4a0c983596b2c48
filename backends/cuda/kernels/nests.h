/// @file
/// From the loops of a call to the nests of kernels, on the host.
#pragma once
#include "backends/cpu/nests.h"
#include "backends/cuda/families.h"
#include "backends/cuda/kernels/nest.h"

namespace lockstep::cuda {

template <int kTensors> void add_axis(Axes<kTensors>& axes, const cpu::LoopAxis& a) {
  axes.extent[axes.rank] = Divisor(a.extent);
  for (int t = 0; t < kTensors; ++t)
    axes.stride[axes.rank][t] = a.stride[static_cast<std::size_t>(t)];
  ++axes.rank;
}

template <int kTensors> Nest<kTensors> nest_of(const cpu::Loops& loops) {
  Nest<kTensors> n;
  const int last = loops.rank() - 1;
  for (int d = 0; d < last; ++d) add_axis(n.outer, loops[d]);
  if (last >= 0) {
    n.inner = static_cast<u32>(loops[last].extent);
    for (int t = 0; t < kTensors; ++t)
      n.stride[t] = loops[last].stride[static_cast<std::size_t>(t)];
  }
  const i64 groups = ceil_div(n.inner, kGroup);
  n.groups = Divisor(groups);
  n.items = static_cast<u32>(loops.volume() / n.inner * groups);
  return n;
}

/// Notes which of the tensors at these addresses have whole groups at multiples of sixteen bytes.
template <int kTensors> void look_for_groups(Nest<kTensors>& n, const i32* const (&at)[kTensors]) {
  n.wide = 0;
  for (int t = 0; t < kTensors; ++t) {
    bool is_wide = n.stride[t] == 1 && is_aligned(at[t]);
    for (int d = 0; d < n.outer.rank; ++d) is_wide &= n.outer.stride[d][t] % kGroup == 0;
    n.wide |= is_wide ? 1U << t : 0U;
  }
}

}  // namespace lockstep::cuda
