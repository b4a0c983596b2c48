/// @file
/// The operators that compute each output from one element of each input. A row is computed from
/// operands that lie one after the other or are one element; other layouts are staged box by box.
#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/targets.h"
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

#ifndef LOCKSTEP_CPU_ELEMENTWISE
#define LOCKSTEP_CPU_ELEMENTWISE
namespace lockstep::cpu {
namespace {

/// The formulas of rows.
enum class Formula {
  absolute,
  negated,
  clipped,
  shifted_right,
  shifted_left,
  counted,
  added,
  subtracted,
  multiplied,
  largest,
  greater,
  divided,
  divided_short,
  chosen
};

/// The attributes of a formula.
struct Numbers {
  i32 low = 0, high = 0;
  int shift = 0;
};

/// A plane: `count` rows of n outputs. From row to row the output and each input move by a step.
struct Plane {
  i64 n, count;
  PerTensor step;
  unsigned single;  ///< the inputs of which one element serves a whole row, as a bit set
  bool stream;      ///< let rows bypass the caches
};

/// Computes a plane.
using PlaneOf = void (*)(const Numbers& p, const Plane& plane, const i32* const* in, i32* y);

}  // namespace
}  // namespace lockstep::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using All = hn::ScalableTag<i32>;
using One = hn::CappedTag<i32, 1>;
template <class D> using Of = hn::Vec<D>;

template <class D> Of<D> clipped(D d, Of<D> v, const Numbers& p) {
  return hn::Min(hn::Max(v, hn::Set(d, p.low)), hn::Set(d, p.high));
}

template <Formula kFormula, class D> Of<D> unary(D d, const Numbers& p, Of<D> x) {
  if constexpr (kFormula == Formula::absolute) return hn::Abs(x);
  if constexpr (kFormula == Formula::negated) return hn::Sub(hn::Zero(d), x);
  if constexpr (kFormula == Formula::clipped) return clipped(d, x, p);
  if constexpr (kFormula == Formula::shifted_left)
    return clipped(d, hn::ShiftLeftSame(x, p.shift), p);
  if constexpr (kFormula == Formula::shifted_right) {
    // floor((halves + 1) / 2) without the sum, which may need 33 bits.
    const Of<D> halves = hn::ShiftRightSame(x, p.shift - 1);
    const Of<D> rounded = hn::Add(hn::ShiftRight<1>(halves), hn::And(halves, hn::Set(d, 1)));
    return clipped(d, rounded, p);
  }
  if constexpr (kFormula == Formula::counted) {
    // The exponent of a float. Without the second highest bit, no rounding reaches the next one.
    const Of<D> m = hn::Abs(x), top = hn::AndNot(hn::ShiftRight<1>(m), m);
    const auto real = hn::ConvertTo(hn::Rebind<float, D>(), top);
    const Of<D> exponent = hn::Sub(hn::ShiftRight<23>(hn::BitCast(d, real)), hn::Set(d, 126));
    return hn::Max(exponent, hn::Set(d, 1));
  }
}

// Quotients in doubles: |a / b| < 2^31 is off by less than 2^-22 / |b|, and 1 / |b| away from the
// next integer unless it is one, so that truncation is exact in every rounding mode.
template <class D> Of<D> quotient(D d, Of<D> a, Of<D> b) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    const i64 n = hn::GetLane(a), m = hn::GetLane(b);
    return hn::Set(d, static_cast<i32>(m == 0 ? 0 : n / m));
  } else {
#if HWY_TARGET != HWY_SCALAR
    const hn::Half<D> half;
    const hn::Repartition<double, D> real;
    const auto divided = [&](auto x, auto y) {
      return hn::DemoteTo(half, hn::Div(hn::PromoteTo(real, x), hn::PromoteTo(real, y)));
    };
    const Of<D> q = hn::Combine(d, divided(hn::UpperHalf(half, a), hn::UpperHalf(half, b)),
        divided(hn::LowerHalf(half, a), hn::LowerHalf(half, b)));
    return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(d)), q);
#endif
  }
}

// The same in floats for operands below 2^23: off by at most 2^-24 * 2^23 / |b|.
template <class D> Of<D> short_quotient(D d, Of<D> a, Of<D> b) {
  const hn::Rebind<float, D> real;
  const Of<D> q = hn::ConvertTo(d, hn::Div(hn::ConvertTo(real, a), hn::ConvertTo(real, b)));
  return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(d)), q);
}

template <Formula kFormula, class D> Of<D> binary(D d, Of<D> a, Of<D> b) {
  if constexpr (kFormula == Formula::added) return hn::Add(a, b);
  if constexpr (kFormula == Formula::subtracted) return hn::Sub(a, b);
  if constexpr (kFormula == Formula::multiplied) return hn::Mul(a, b);
  if constexpr (kFormula == Formula::largest) return hn::Max(a, b);
  if constexpr (kFormula == Formula::greater)
    return hn::IfThenElseZero(hn::Gt(a, b), hn::Set(d, 1));
  if constexpr (kFormula == Formula::divided) return quotient(d, a, b);
  if constexpr (kFormula == Formula::divided_short) return short_quotient(d, a, b);
}

constexpr int arity(Formula f) { return f < Formula::added ? 1 : f < Formula::chosen ? 2 : 3; }

// An operand: each element of a row, or one element for all of it.
template <bool kSingle> struct Operand {
  const i32* data;
  template <class D> Of<D> load(D d, i64 i) const {
    if constexpr (kSingle)
      return hn::Set(d, *data);
    else
      return hn::LoadU(d, data + i);
  }
};

template <Formula kFormula, unsigned kSingle> struct RowOf {
  const Numbers& p;
  const i32* const* in;

  template <int k, class D> Of<D> load(D d, i64 i) const {
    return Operand<(kSingle >> k & 1) != 0>{in[k]}.load(d, i);
  }
  template <class D> Of<D> outputs(D d, i64 i) const {
    if constexpr (arity(kFormula) == 1)
      return unary<kFormula>(d, p, load<0>(d, i));
    else if constexpr (arity(kFormula) == 2)
      return binary<kFormula>(d, load<0>(d, i), load<1>(d, i));
    else if constexpr (kSingle == 1)
      return hn::LoadU(d, (*in[0] == 0 ? in[2] : in[1]) + i);
    else
      return hn::IfThenElse(hn::Eq(load<0>(d, i), hn::Zero(d)), load<2>(d, i), load<1>(d, i));
  }
  void compute(i32* y, i64 n, bool stream) const {
    const All all;
    const auto width = static_cast<i64>(hn::Lanes(all));
    i64 i = 0;
    if (stream && n >= 4 * width) {
      const auto past = static_cast<i64>(reinterpret_cast<std::uintptr_t>(y) / sizeof(i32));
      for (const i64 head = (width - past % width) % width; i < head; ++i) single(y, i);
      for (; i + width <= n; i += width) hn::Stream(outputs(all, i), all, y + i);
    }
    for (; i + 2 * width <= n; i += 2 * width) {
      const auto first = outputs(all, i), second = outputs(all, i + width);
      hn::StoreU(first, all, y + i);
      hn::StoreU(second, all, y + i + width);
    }
    for (; i + width <= n; i += width) hn::StoreU(outputs(all, i), all, y + i);
    for (; i < n; ++i) single(y, i);
  }
  void single(i32* y, i64 i) const { hn::StoreU(outputs(One(), i), One(), y + i); }
};

template <Formula kFormula, unsigned kSingle>
void rows(const Numbers& p, const Plane& plane, const i32* const* in, i32* y) {
  constexpr auto kInputs = static_cast<std::size_t>(arity(kFormula));
  const i32* x[kInputs];
  std::copy_n(in, kInputs, x);
  for (i64 k = 0; k < plane.count; ++k, y += plane.step[0]) {
    RowOf<kFormula, kSingle>{p, x}.compute(y, plane.n, plane.stream);
    for (std::size_t i = 0; i < kInputs; ++i) x[i] += plane.step[i + 1];
  }
}

template <Formula kFormula>
void plane_of(const Numbers& p, const Plane& plane, const i32* const* in, i32* y) {
  if constexpr (arity(kFormula) > 1) {
    if (plane.single == 1) return rows<kFormula, 1>(p, plane, in, y);
    if (plane.single == 2) return rows<kFormula, 2>(p, plane, in, y);
  }
  // Where every operand is one element, there is one output.
  rows<kFormula, 0>(p, plane, in, y);
}

PlaneOf plane_function(Formula f) {
  switch (f) {
    case Formula::absolute: return plane_of<Formula::absolute>;
    case Formula::negated: return plane_of<Formula::negated>;
    case Formula::clipped: return plane_of<Formula::clipped>;
    case Formula::shifted_right: return plane_of<Formula::shifted_right>;
    case Formula::shifted_left: return plane_of<Formula::shifted_left>;
    case Formula::counted: return plane_of<Formula::counted>;
    case Formula::added: return plane_of<Formula::added>;
    case Formula::subtracted: return plane_of<Formula::subtracted>;
    case Formula::multiplied: return plane_of<Formula::multiplied>;
    case Formula::largest: return plane_of<Formula::largest>;
    case Formula::greater: return plane_of<Formula::greater>;
    case Formula::divided: return plane_of<Formula::divided>;
    case Formula::divided_short: return plane_of<Formula::divided_short>;
    case Formula::chosen: return plane_of<Formula::chosen>;
  }
  return nullptr;
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

constexpr i64 kBoxElements = i64{1} << 14;     // of a box whose operands are read where they lie
constexpr i64 kStagedElements = i64{1} << 11;  // of a box with copies of operands on the stack
constexpr i64 kShortRow = 32;
constexpr double kElementNs = 0.4;

/// What an operator computes.
struct Work {
  Formula formula;
  Numbers numbers{};
};

Numbers within(i64 low, i64 high, i64 shift = 0) {
  return {static_cast<i32>(low), static_cast<i32>(high), static_cast<int>(shift)};
}
Numbers within_precision(i64 precision, i64 shift = 0) {
  return within(-max_of(precision), max_of(precision), shift);
}

Work work_of(const Abs&, const NoAttrs&, Types) { return {Formula::absolute}; }
Work work_of(const Negative&, const NoAttrs&, Types) { return {Formula::negated}; }
Work work_of(const Relu&, const NoAttrs&, Types) { return {Formula::clipped, within(0, kIntMax)}; }
Work work_of(const Clip&, const ClipAttrs& a, Types) {
  return {Formula::clipped, within(a.a_min, a.a_max)};
}
Work work_of(const CvmClip&, const CvmClipAttrs& a, Types) {
  return {Formula::clipped, within_precision(a.precision)};
}
Work work_of(const CvmRightShift&, const CvmRightShiftAttrs& a, Types) {
  return {Formula::shifted_right, within_precision(a.precision, a.shift_bit)};
}
Work work_of(const CvmLeftShift&, const CvmLeftShiftAttrs& a, Types) {
  return {Formula::shifted_left, within_precision(a.precision, a.shift_bit)};
}
Work work_of(const CvmPrecision&, const NoAttrs&, Types) { return {Formula::counted}; }
Work work_of(const BroadcastAdd&, const NoAttrs&, Types) { return {Formula::added}; }
Work work_of(const BroadcastSub&, const NoAttrs&, Types) { return {Formula::subtracted}; }
Work work_of(const BroadcastMul&, const NoAttrs&, Types) { return {Formula::multiplied}; }
Work work_of(const BroadcastMax&, const NoAttrs&, Types) { return {Formula::largest}; }
Work work_of(const BroadcastGreater&, const NoAttrs&, Types) { return {Formula::greater}; }
Work work_of(const BroadcastDiv&, const NoAttrs&, Types in) {
  constexpr int kFloat = 24;  // bits of a float's significand, as many as a value and its sign
  const bool is_short = in[0].precision <= kFloat && in[1].precision <= kFloat;
  return {is_short ? Formula::divided_short : Formula::divided};
}
Work work_of(const ElemwiseAdd&, const NoAttrs&, Types) { return {Formula::added}; }
Work work_of(const ElemwiseSub&, const NoAttrs&, Types) { return {Formula::subtracted}; }
Work work_of(const Where&, const NoAttrs&, Types) { return {Formula::chosen}; }

/// The axis of an input that meets axis d of the output, or -1.
template <class Op> int axis_of(const Out& y, const View& x, int d) {
  if constexpr (std::is_same_v<Op, Where>) return d < x.rank() ? d : -1;
  return d - (y.rank() - x.rank());
}

template <class Op> Loops loops_of(const Out& y, std::span<const View> in) {
  Loops loops(static_cast<int>(in.size()) + 1);
  for (int d = 0; d < y.rank(); ++d) {
    PerTensor stride{y.stride[d]};
    for (std::size_t k = 0; k < in.size(); ++k) {
      const int axis = axis_of<Op>(y, in[k], d);
      stride[k + 1] = axis < 0 || in[k].dim(axis) == 1 ? 0 : in[k].stride[axis];
    }
    loops.add(y.dim(d), stride);
  }
  loops.join();
  return loops;
}

/// Whether the rows of a nest can be computed where they lie.
bool is_direct(const Loops& loops) {
  if (loops.rank() == 0) return true;
  const LoopAxis& inner = loops[loops.rank() - 1];
  for (int t = 0; t < loops.tensors(); ++t) {
    const i64 stride = inner.stride[static_cast<std::size_t>(t)];
    if (stride != 1 && (stride != 0 || t == 0)) return false;
  }
  return inner.extent >= kShortRow || loops.rank() == 1;
}

class Elementwise : public Plan {
 public:
  Elementwise(
      const Arguments& a, const Kernel& kernel, const Work& work, PlaneOf plane, const Loops& loops)
      : name_(kernel.name),
        pool_(a.pool),
        numbers_(work.numbers),
        plane_(plane),
        move_(move_box(*find_isa(kernel.isa))),
        loops_(loops),
        is_direct_(lockstep::cpu::is_direct(loops)),
        is_large_(leaves_caches(loops.volume())) {
    loops_.cut(is_direct_ ? kBoxElements : kStagedElements);
    boxes_ = loops_.boxes();
    box_ns_ = kElementNs * static_cast<double>(loops_.box_volume());
    for (int k = 0; k + 1 < loops_.tensors(); ++k) {
      const bool is_single = is_direct_ && loops_.rank() > 0
          ? loops_[loops_.rank() - 1].stride[static_cast<std::size_t>(k) + 1] == 0
          : loops_.is_constant(k + 1);
      if (is_single) single_ |= 1U << k;
    }
  }
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    pool_->run(boxes_, box_ns_, [&](i64 begin, i64 end) {
      loops_.visit(begin, end, [&](const LoopBox& box) {
        if (is_direct_)
          compute_planes(box, in, out[0]);
        else
          compute_staged(box, in, out[0]);
      });
    });
  }
  const char* path() const override { return name_.c_str(); }

 private:
  void compute_planes(const LoopBox& box, const i32* const* in, i32* y) const {
    Plane plane{1, 1, {}, single_, is_large_};
    const auto rank = static_cast<std::size_t>(loops_.rank());
    if (rank > 0) plane.n = box.extent[rank - 1];
    if (rank > 1) {
      plane.count = box.extent[rank - 2];
      plane.step = loops_[loops_.rank() - 2].stride;
    }
    loops_.planes(box, [&](const PerTensor& at) {
      const i32* x[kLoopTensorsMax];
      for (std::size_t k = 1; k < static_cast<std::size_t>(loops_.tensors()); ++k)
        x[k - 1] = in[k - 1] + at[k];
      plane_(numbers_, plane, x, y + at[0]);
    });
  }

  void compute_staged(const LoopBox& box, const i32* const* in, i32* y) const {
    alignas(64) i32 room[kLoopTensorsMax][kStagedElements];
    Move m{.rank = loops_.rank(), .extent = box.extent};
    const i64 n = lay_out(m);
    const auto strides = m.to;
    const i32* x[kLoopTensorsMax];
    for (int k = 0; k + 1 < loops_.tensors(); ++k) {
      x[k] = in[k] + box.offset[static_cast<std::size_t>(k) + 1];
      if ((single_ >> k & 1) != 0 || loops_.is_compact(box, k + 1)) continue;
      m.from = strides_of(k + 1);
      move_(m, room[k + 1], x[k], false);
      x[k] = room[k + 1];
    }
    i32* to = y + box.offset[0];
    const Plane row{n, 1, {}, single_, false};
    if (loops_.is_compact(box, 0)) return plane_(numbers_, row, x, to);
    plane_(numbers_, row, x, room[0]);
    m.from = strides;
    m.to = strides_of(0);
    move_(m, to, room[0], false);
  }

  /// Lets a box's target be compact. @return its elements
  static i64 lay_out(Move& m) {
    i64 n = 1;
    for (int d = m.rank - 1; d >= 0; --d) {
      m.to[static_cast<std::size_t>(d)] = n;
      n *= m.extent[static_cast<std::size_t>(d)];
    }
    return n;
  }
  std::array<i64, kLoopAxesMax> strides_of(int tensor) const {
    std::array<i64, kLoopAxesMax> all{};
    for (int d = 0; d < loops_.rank(); ++d)
      all[static_cast<std::size_t>(d)] = loops_[d].stride[static_cast<std::size_t>(tensor)];
    return all;
  }

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  Numbers numbers_;
  PlaneOf plane_;
  MoveBox move_;
  Loops loops_;
  bool is_direct_, is_large_;
  unsigned single_ = 0;
  i64 boxes_ = 0;
  double box_ns_ = 0;
};

template <class Op> std::unique_ptr<Plan> elementwise_plan(const Arguments& a, const Kernel& k) {
  static constexpr Target<PlaneOf(Formula)> kTargets[] = {LOCKSTEP_TARGETS(plane_function)};
  std::vector<Type> types(a.call.in.begin(), a.call.in.end());
  const Work work = work_of(Op(), from_attributes<Op>(a.call.attributes()),
      Types{types.data(), static_cast<int>(types.size())});
  const PlaneOf plane = best_target(kTargets, *find_isa(k.isa))(work.formula);
  return std::make_unique<Elementwise>(a, k, work, plane, loops_of<Op>(a.call.out[0], a.call.in));
}

template <class... Op> std::vector<Kernel> kernels_of() {
  std::vector<Kernel> all;
  (add_target_kernels<Op>(all, elementwise_plan<Op>), ...);
  return all;
}

}  // namespace

std::vector<Kernel> elementwise_kernels() {
  return kernels_of<Abs, BroadcastAdd, BroadcastDiv, BroadcastGreater, BroadcastMax, BroadcastMul,
      BroadcastSub, Clip, CvmClip, CvmLeftShift, CvmPrecision, CvmRightShift, ElemwiseAdd,
      ElemwiseSub, Negative, Relu, Where>();
}

}  // namespace lockstep::cpu
#endif
