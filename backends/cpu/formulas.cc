#include "backends/cpu/formulas.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/formulas.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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
    // Takes a float's exponent; without the second highest bit, rounding cannot reach the next one.
    const Of<D> m = hn::Abs(x), top = hn::AndNot(hn::ShiftRight<1>(m), m);
    const auto real = hn::ConvertTo(hn::Rebind<float, D>(), top);
    const Of<D> exponent = hn::Sub(hn::ShiftRight<23>(hn::BitCast(d, real)), hn::Set(d, 126));
    return hn::Max(exponent, hn::Set(d, 1));
  }
}

// Multiplies by a reciprocal, which the compiler takes out of the loop over a row of one divisor.
// 2^-51 outweighs the rounding of 1 / b, so that a quotient that is an integer is not missed. The
// product, |a / b| < 2^31, is off by less than 2^-18 / |b|, and any other quotient is at least
// 1 / |b| away from the next integer, so truncation is exact in every rounding mode.
template <class D> Of<D> long_quotient(D d, Of<D> a, Of<D> b) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::Set(d, static_cast<i32>(i64{hn::GetLane(a)} / hn::GetLane(b)));
  } else {
#if HWY_TARGET != HWY_SCALAR
    const hn::Half<D> half;
    const hn::Repartition<double, D> real;
    const auto divided = [&](auto x, auto y) {
      const auto reciprocal = hn::Div(hn::Set(real, 1 + 0x1p-51), hn::PromoteTo(real, y));
      return hn::DemoteTo(half, hn::Mul(hn::PromoteTo(real, x), reciprocal));
    };
    return hn::Combine(d, divided(hn::UpperHalf(half, a), hn::UpperHalf(half, b)),
        divided(hn::LowerHalf(half, a), hn::LowerHalf(half, b)));
#endif
  }
}

// The same in floats for operands below 2^23: off by at most 2^-24 * 2^23 / |b|.
template <class D> Of<D> short_quotient(D d, Of<D> a, Of<D> b) {
  const hn::Rebind<float, D> real;
  return hn::ConvertTo(d, hn::Div(hn::ConvertTo(real, a), hn::ConvertTo(real, b)));
}

// Never divides by zero, because no integer stands for the result.
template <bool kShort, class D> Of<D> quotient(D d, Of<D> a, Of<D> b) {
  const auto is_zero = hn::Eq(b, hn::Zero(d));
  const Of<D> divisor = hn::IfThenElse(is_zero, hn::Set(d, 1), b);
  if constexpr (kShort)
    return hn::IfThenZeroElse(is_zero, short_quotient(d, a, divisor));
  else
    return hn::IfThenZeroElse(is_zero, long_quotient(d, a, divisor));
}

template <Formula kFormula, class D> Of<D> binary(D d, Of<D> a, Of<D> b) {
  if constexpr (kFormula == Formula::added) return hn::Add(a, b);
  if constexpr (kFormula == Formula::subtracted) return hn::Sub(a, b);
  if constexpr (kFormula == Formula::multiplied) return hn::Mul(a, b);
  if constexpr (kFormula == Formula::largest) return hn::Max(a, b);
  if constexpr (kFormula == Formula::greater)
    return hn::IfThenElseZero(hn::Gt(a, b), hn::Set(d, 1));
  if constexpr (kFormula == Formula::divided) return quotient<false>(d, a, b);
  if constexpr (kFormula == Formula::divided_short) return quotient<true>(d, a, b);
}

// Computes a row. It reads single elements beforehand, because the output may overwrite them.
template <Formula kFormula, unsigned kSingle> struct RowOf {
  Numbers p;
  const i32* in[kOperandsMax];
  i32 one[kOperandsMax];

  RowOf(const Numbers& numbers, const i32* const* operands) : p(numbers), in{}, one{} {
    for (int k = 0; k < arity(kFormula); ++k) {
      in[k] = operands[k];
      one[k] = *operands[k];
    }
  }
  template <int k, class D> Of<D> load(D d, i64 i) const {
    if constexpr ((kSingle >> k & 1) != 0)
      return hn::Set(d, one[k]);
    else
      return hn::LoadU(d, in[k] + i);
  }
  template <class D> Of<D> outputs(D d, i64 i) const {
    if constexpr (arity(kFormula) == 1)
      return unary<kFormula>(d, p, load<0>(d, i));
    else if constexpr (arity(kFormula) == 2)
      return binary<kFormula>(d, load<0>(d, i), load<1>(d, i));
    else if constexpr (kSingle == 1)
      return hn::LoadU(d, (one[0] == 0 ? in[2] : in[1]) + i);
    else
      return hn::IfThenElse(hn::Eq(load<0>(d, i), hn::Zero(d)), load<2>(d, i), load<1>(d, i));
  }
  void compute(i32* y, i64 n, bool stream) const {
    const All all;
    const auto width = static_cast<i64>(hn::Lanes(all));
    if (n < width) {
      for (i64 i = 0; i < n; ++i) single(y, i);
    } else if (!stream && n % width == 0) {
      vectors(y, n, false);
    } else {
      // The last vector overlaps others; it is computed before they are stored, perhaps over
      // inputs.
      const auto last = outputs(all, n - width);
      if (vectors(y, n, stream) < n) hn::StoreU(last, all, y + n - width);
    }
  }
  // As many whole vectors as n outputs have. @return the number of outputs
  i64 vectors(i32* y, i64 n, bool stream) const {
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
    return i;
  }
  void single(i32* y, i64 i) const { hn::StoreU(outputs(One(), i), One(), y + i); }
};

template <Formula kFormula, unsigned kSingle>
void rows(const Numbers& p, const Plane& plane, const i32* const* in, i32* y) {
  constexpr auto kInputs = static_cast<std::size_t>(arity(kFormula));
  const i32* x[kInputs];
  std::copy_n(in, kInputs, x);
  for (i64 k = 0; k < plane.count; ++k, y += plane.step) {
    RowOf<kFormula, kSingle>(p, x).compute(y, plane.n, plane.stream);
    for (std::size_t i = 0; i < kInputs; ++i) x[i] += plane.steps[i];
  }
}

template <Formula kFormula>
void any_plane(const Numbers& p, const Plane& plane, const i32* const* in, i32* y) {
  if constexpr (arity(kFormula) > 1) {
    if (plane.single == 1) return rows<kFormula, 1>(p, plane, in, y);
    if (plane.single == 2) return rows<kFormula, 2>(p, plane, in, y);
  }
  // If every operand is a single element, there is a single output, and nothing repeats.
  rows<kFormula, 0>(p, plane, in, y);
}

PlaneOf plane_function(Formula f) {
  switch (f) {
    case Formula::absolute: return any_plane<Formula::absolute>;
    case Formula::negated: return any_plane<Formula::negated>;
    case Formula::clipped: return any_plane<Formula::clipped>;
    case Formula::shifted_right: return any_plane<Formula::shifted_right>;
    case Formula::shifted_left: return any_plane<Formula::shifted_left>;
    case Formula::counted: return any_plane<Formula::counted>;
    case Formula::added: return any_plane<Formula::added>;
    case Formula::subtracted: return any_plane<Formula::subtracted>;
    case Formula::multiplied: return any_plane<Formula::multiplied>;
    case Formula::largest: return any_plane<Formula::largest>;
    case Formula::greater: return any_plane<Formula::greater>;
    case Formula::divided: return any_plane<Formula::divided>;
    case Formula::divided_short: return any_plane<Formula::divided_short>;
    case Formula::chosen: return any_plane<Formula::chosen>;
  }
  return nullptr;
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {

PlaneOf plane_of(Formula f, const Isa& most) {
  static constexpr Target<PlaneOf(Formula)> kTargets[] = {LOCKSTEP_TARGETS(plane_function)};
  return best_target(kTargets, most)(f);
}

}  // namespace lockstep::cpu
#endif
