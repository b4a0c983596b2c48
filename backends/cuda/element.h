/// @file
/// The work of one thread of a generic kernel, compiled for the host and for the device, so that
/// tests on the host run the same code.
#pragma once
#include <type_traits>

#include "spec/op.h"

namespace lockstep::cuda {

/// Views passed as kernel parameters.
template <class V, int kCount> struct Inline {
  V item[kCount];
  int count;
  constexpr Span<V> span() const { return {item, count}; }
};

/// Views in device memory, for operators with more views than kernel parameters (4 KiB) can hold.
struct Remote {
  const View* item;
  int count;
  constexpr Span<View> span() const { return {item, count}; }
};

template <Operator Op> inline constexpr int kPorts = static_cast<int>(std::size(Op::inputs));
template <Operator Op> inline constexpr int kResults = static_cast<int>(std::size(Op::outputs));
/// Whether an operator takes any number of inputs.
template <Operator Op> inline constexpr bool kIsVariadic =
    Op::inputs[kPorts<Op> - 1].arity == Arity::variadic;

/// The parameters of an operator's kernel.
template <Operator Op> struct Parameters {
  typename Op::Attrs attrs;
  std::conditional_t<kIsVariadic<Op>, Remote, Inline<View, kPorts<Op>>> in;
  Inline<Out, kResults<Op>> out;
};

/// How many threads an operator needs: one per output element, or a single one.
template <Operator Op> constexpr i64 threads_of(const Span<Out>& out) {
  if constexpr (Whole<Op>)
    return 1;
  else
    return volume(out[0].shape);
}

/// The work of thread k of a launch. The last block may have threads without work.
template <Operator Op> constexpr void run_thread(const Parameters<Op>& p, i64 k) {
  const Span<Out> out = p.out.span();
  if (k >= threads_of<Op>(out)) return;
  if constexpr (Whole<Op>) {
    Op::eval(p.attrs, p.in.span(), out);
  } else {
    const Type& type = out[0];
    const Index y = unravel(k, type.shape);
    out[0](y) = static_cast<i32>(value_at<Op>(p.attrs, p.in.span(), y, type));
  }
}

}  // namespace lockstep::cuda
