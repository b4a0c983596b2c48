/// @file
/// Loop nests on a device: a thread finds its elements in tensors of any layout. Axes that continue
/// each other are joined before (cpu/loops.h).
#pragma once
#include "backends/cuda/kernels/kernel.h"

namespace lockstep::cuda {

inline constexpr int kNestAxesMax = 12;
inline constexpr u32 kGroup = 4;  ///< elements of the innermost axis that a thread takes

/// Axes outside the innermost one, with a stride for each tensor.
template <int kTensors> struct Axes {
  int rank = 0;
  Divisor extent[kNestAxesMax];
  i64 stride[kNestAxesMax][kTensors]{};

  /// Adds to `offset` where position k lies in each tensor.
  LOCKSTEP_DEVICE constexpr void move(u32 k, i64 (&offset)[kTensors]) const {
    for (int d = rank - 1; d >= 0; --d) {
      const Divided at = divide(k, extent[d]);
      k = at.quotient;
      LOCKSTEP_UNROLL
      for (int t = 0; t < kTensors; ++t) offset[t] += at.rest * stride[d][t];
    }
  }
};

/// The elements of a thread: `count` of them along the innermost axis.
template <int kTensors> struct Spot {
  i64 offset[kTensors];
  u32 count;
};

template <int kTensors> struct Nest {
  Axes<kTensors> outer;
  u32 inner = 1, items = 1;  ///< elements of the innermost axis; groups in all
  Divisor groups;            ///< of the innermost axis
  i64 stride[kTensors]{};    ///< along it
  unsigned wide = 0;         ///< the tensors whose groups can be moved at once, as a bit set

  LOCKSTEP_DEVICE constexpr Spot<kTensors> spot(u32 item) const {
    const Divided at = divide(item, groups);
    const u32 first = at.rest * kGroup;
    Spot<kTensors> s{{}, inner - first < kGroup ? inner - first : kGroup};
    LOCKSTEP_UNROLL
    for (int t = 0; t < kTensors; ++t) s.offset[t] = first * stride[t];
    outer.move(at.quotient, s.offset);
    return s;
  }

  /// Reads the elements of tensor t, which begins at x.
  template <class Thread>
  LOCKSTEP_DEVICE Four read(const i32* x, int t, const Spot<kTensors>& s, Thread& thread) const {
    const i32* from = x + s.offset[t];
    if ((wide >> t & 1) != 0 && s.count == kGroup)
      return thread.get(reinterpret_cast<const Four*>(from));
    Four v{};
    LOCKSTEP_UNROLL
    for (u32 j = 0; j < kGroup; ++j)
      if (j < s.count) v.item[j] = thread.get(from + j * stride[t]);
    return v;
  }
  /// Writes the elements of the output, which is tensor 0.
  template <class Thread>
  LOCKSTEP_DEVICE void write(i32* y, const Spot<kTensors>& s, const Four& v, Thread& thread) const {
    i32* to = y + s.offset[0];
    if ((wide & 1) != 0 && s.count == kGroup) return thread.put(reinterpret_cast<Four*>(to), v);
    LOCKSTEP_UNROLL
    for (u32 j = 0; j < kGroup; ++j)
      if (j < s.count) thread.put(to + j * stride[0], v.item[j]);
  }
};

}  // namespace lockstep::cuda
