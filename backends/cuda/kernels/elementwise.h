/// @file
/// Operators that compute each output from one element of each input, by the specification's own
/// text: a thread reads four elements of each and hands them on as if they were tensors. A shorter
/// text replaces it where it divides or counts in 64 bits, for which a device has no instructions.
#pragma once
#include <bit>
#include <type_traits>

#include "backends/cuda/kernels/nest.h"
#include "spec/ops/abs.h"
#include "spec/ops/broadcast_add.h"
#include "spec/ops/broadcast_div.h"
#include "spec/ops/broadcast_greater.h"
#include "spec/ops/broadcast_max.h"
#include "spec/ops/broadcast_mul.h"
#include "spec/ops/broadcast_sub.h"
#include "spec/ops/clip.h"
#include "spec/ops/cvm_clip.h"
#include "spec/ops/cvm_left_shift.h"
#include "spec/ops/cvm_precision.h"
#include "spec/ops/cvm_right_shift.h"
#include "spec/ops/elemwise_add.h"
#include "spec/ops/elemwise_sub.h"
#include "spec/ops/negative.h"
#include "spec/ops/relu.h"
#include "spec/ops/where.h"

namespace lockstep::cuda {

/// An input of one element, wherever it is read.
struct Element {
  i32 value;
  template <class... I> constexpr i32 operator()(const I&...) const { return value; }
  template <class F> constexpr i32 at(const F&) const { return value; }
  constexpr int rank() const { return 0; }
  constexpr i64 dim(int) const { return 1; }
};

/// The magnitude of any integer.
constexpr u32 absolute(i32 v) { return v < 0 ? 0 - static_cast<u32>(v) : static_cast<u32>(v); }

/// An output, from one element of each input.
template <Operator Op, int kInputs>
constexpr i32 computed(const typename Op::Attrs& attrs, const Element (&in)[kInputs]) {
  if constexpr (std::is_same_v<Op, BroadcastDiv>) {
    const i32 a = in[BroadcastDiv::A].value, b = in[BroadcastDiv::B].value;
    const u32 q = b == 0 ? 0 : absolute(a) / absolute(b);
    return static_cast<i32>((a ^ b) < 0 ? 0 - q : q);
  } else if constexpr (std::is_same_v<Op, CvmPrecision>) {
    return std::bit_width(absolute(in[0].value) | 1);
  } else {
    return static_cast<i32>(value_at<Op>(attrs, in, Index{}, Type{}));
  }
}

template <Operator Op> struct ComputeElements : ThreadByThread<ComputeElements<Op>> {
  static constexpr int kInputs = static_cast<int>(std::size(Op::inputs));
  struct Parameters {
    typename Op::Attrs attrs;
    Nest<1 + kInputs> nest;
    const i32* x[kInputs];
    i32* y;
  };

  template <class Thread> static LOCKSTEP_DEVICE void work(const Parameters& p, u32 k, Thread& t) {
    if (k >= p.nest.items) return;
    const auto spot = p.nest.spot(k);
    Four in[kInputs], y;
    LOCKSTEP_UNROLL
    for (int i = 0; i < kInputs; ++i) in[i] = p.nest.read(p.x[i], 1 + i, spot, t);
    LOCKSTEP_UNROLL
    for (u32 j = 0; j < kGroup; ++j) {
      Element one[kInputs];
      LOCKSTEP_UNROLL
      for (int i = 0; i < kInputs; ++i) one[i].value = in[i].item[j];
      y.item[j] = computed<Op>(p.attrs, one);
    }
    p.nest.write(p.y, spot, y, t);
  }
};

template <class... Op> using ElementwiseOf = KernelList<ComputeElements<Op>...>;
using ElementwiseKernels = ElementwiseOf<Abs, BroadcastAdd, BroadcastDiv, BroadcastGreater,
    BroadcastMax, BroadcastMul, BroadcastSub, Clip, CvmClip, CvmLeftShift, CvmPrecision,
    CvmRightShift, ElemwiseAdd, ElemwiseSub, Negative, Relu, Where>;

}  // namespace lockstep::cuda
