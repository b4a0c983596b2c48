#include <algorithm>
#include <limits>

#include "backends/cpu/reduce.h"
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<i32> kAll;

// An output of a legal call fits 32 bits, so addition modulo 2^32 gives it exactly, in any order
// and even where a partial sum wraps.
struct Adding {
  static constexpr i32 kIdentity = 0;
  i32 operator()(i32 a, i32 b) const {
    return static_cast<i32>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
  template <class V> V operator()(V a, V b) const { return hn::Add(a, b); }
  template <class D, class V> i32 fold(D d, V v) const { return hn::GetLane(hn::SumOfLanes(d, v)); }
};

struct Largest {
  static constexpr i32 kIdentity = std::numeric_limits<i32>::min();
  i32 operator()(i32 a, i32 b) const { return std::max(a, b); }
  template <class V> V operator()(V a, V b) const { return hn::Max(a, b); }
  template <class D, class V> i32 fold(D d, V v) const { return hn::GetLane(hn::MaxOfLanes(d, v)); }
};

template <class D> constexpr bool is_wide(D) { return hn::MaxLanes(D()) > 4; }

// Accumulates kRows rows of at least a vector into one. The last vector overlaps the one before.
template <int kRows, class Op> void join_rows(Op op, i32* acc, const i32* x, i64 stride, i64 n) {
  const auto width = static_cast<i64>(hn::Lanes(kAll));
  const auto joined = [&](auto v, i64 i) HWY_ATTR {
    for (int k = 0; k < kRows; ++k) v = op(v, hn::LoadU(kAll, x + k * stride + i));
    return v;
  };
  const auto last = hn::LoadU(kAll, acc + n - width);
  i64 i = 0;
  for (; i + width <= n; i += width) hn::StoreU(joined(hn::LoadU(kAll, acc + i), i), kAll, acc + i);
  if (i < n) hn::StoreU(joined(last, n - width), kAll, acc + n - width);
}

template <class Op> void join_wide(Op op, i32* acc, const i32* x, i64 rows, i64 stride, i64 n) {
  for (; rows >= 8; rows -= 8, x += 8 * stride) join_rows<8>(op, acc, x, stride, n);
  if (rows & 4) join_rows<4>(op, acc, x, stride, n), x += 4 * stride;
  if (rows & 2) join_rows<2>(op, acc, x, stride, n), x += 2 * stride;
  if (rows & 1) join_rows<1>(op, acc, x, stride, n);
}

// The same for rows of at most two vectors.
template <class Op, class D>
void join_narrow(Op op, D d, i32* acc, const i32* x, i64 rows, i64 stride, i64 n) {
  const auto width = static_cast<i64>(hn::Lanes(d));
  if constexpr (is_wide(D())) {
    if (n < width) return join_narrow(op, hn::Half<D>(), acc, x, rows, stride, n);
  } else if (n < width) {
    for (i64 k = 0; k < rows; ++k)
      for (i64 i = 0; i < n; ++i) acc[i] = op(acc[i], x[k * stride + i]);
    return;
  }
  auto first = hn::LoadU(d, acc), last = hn::LoadU(d, acc + n - width);
  for (i64 k = 0; k < rows; ++k) {
    first = op(first, hn::LoadU(d, x + k * stride));
    last = op(last, hn::LoadU(d, x + k * stride + n - width));
  }
  hn::StoreU(first, d, acc);
  hn::StoreU(last, d, acc + n - width);
}

template <class Op> void accumulate_kept(const Rows& r, i32* acc, const i32* x) {
  const Op op;
  const bool is_narrow = r.n <= 2 * static_cast<i64>(hn::Lanes(kAll));
  // Rows of different accumulators come one by one.
  const bool apart = r.acc_row != 0;
  for (i64 o = 0; o < r.count; ++o, x += r.x_outer, acc += r.acc_outer)
    for (i64 k = 0; k < r.rows; k += apart ? 1 : r.rows) {
      const i64 rows = apart ? 1 : r.rows;
      if (is_narrow)
        join_narrow(op, kAll, acc + k * r.acc_row, x + k * r.x_row, rows, r.x_row, r.n);
      else
        join_wide(op, acc + k * r.acc_row, x + k * r.x_row, rows, r.x_row, r.n);
    }
}

// Combines the vectors of a row that fills at least one. The last vector overlaps others; its lanes
// that are already done do not count.
template <class Op, class D> HWY_INLINE hn::Vec<D> lanes_of(Op op, D d, const i32* x, i64 n) {
  const auto width = static_cast<i64>(hn::Lanes(d)), whole = (n - 1) / width * width;
  const auto at = [&](i64 i) HWY_ATTR { return hn::LoadU(d, x + i); };
  auto a = hn::Set(d, Op::kIdentity);
  i64 i = 0;
  if (whole >= 4 * width) {
    auto b = at(0), c = at(width), e = at(2 * width), f = at(3 * width);
    for (i = 4 * width; i + 4 * width <= whole; i += 4 * width) {
      for (i64 k = 0; k < 4 * width; k += 16) __builtin_prefetch(x + i + k + 1024);
      b = op(b, at(i));
      c = op(c, at(i + width));
      e = op(e, at(i + 2 * width));
      f = op(f, at(i + 3 * width));
    }
    a = op(op(a, b), op(op(c, e), f));
  }
  for (; i < whole; i += width) {
    __builtin_prefetch(x + i + 512);
    a = op(a, at(i));
  }
  const auto done = hn::Lt(hn::Iota(d, 0), hn::Set(d, static_cast<i32>(width - (n - whole))));
  return op(a, hn::IfThenElse(done, hn::Set(d, Op::kIdentity), at(n - width)));
}

#if HWY_TARGET != HWY_SCALAR
// Combines the blocks of four lanes.
template <class Op, class D, class V> auto blocks_joined(Op op, D, V v) {
  if constexpr (is_wide(D())) {
    const hn::Half<D> half;
    return blocks_joined(op, half, op(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

// Combines the lanes of four vectors: one result for each.
template <class Op, class D, class V> auto four_results(Op op, D d, V a, V b, V c, V e) {
  const hn::Repartition<i64, D> pairs;
  const auto ab = op(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = op(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto ab2 = hn::BitCast(pairs, ab), ce2 = hn::BitCast(pairs, ce);
  const auto each = op(hn::BitCast(d, hn::InterleaveLower(pairs, ab2, ce2)),
      hn::BitCast(d, hn::InterleaveUpper(pairs, ab2, ce2)));
  return blocks_joined(op, d, each);
}
#endif

template <class Op, class D> i32 result_of(Op op, D d, const i32* x, i64 n) {
  if (n >= static_cast<i64>(hn::Lanes(d))) return op.fold(d, lanes_of(op, d, x, n));
  if constexpr (is_wide(D())) return result_of(op, hn::Half<D>(), x, n);
  i32 result = Op::kIdentity;
  for (i64 i = 0; i < n; ++i) result = op(result, x[i]);
  return result;
}

// Combines each row into an accumulator of its own, four rows at a time.
template <class Op, class D> void fold_rows(Op op, D d, const Rows& r, i32* acc, const i32* x) {
  i64 k = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (is_wide(D())) {
    if (r.n < static_cast<i64>(hn::Lanes(d))) return fold_rows(op, hn::Half<D>(), r, acc, x);
  }
  const hn::CappedTag<i32, 4> four;
  for (; r.n >= 4 && r.acc_row == 1 && k + 4 <= r.rows; k += 4) {
    const auto lanes = [&](i64 j) HWY_ATTR { return lanes_of(op, d, x + (k + j) * r.x_row, r.n); };
    const auto a = lanes(0), b = lanes(1), c = lanes(2), e = lanes(3);
    const auto results = four_results(op, d, a, b, c, e);
    hn::StoreU(op(hn::LoadU(four, acc + k), results), four, acc + k);
  }
#endif
  for (; k < r.rows; ++k)
    acc[k * r.acc_row] = op(acc[k * r.acc_row], result_of(op, d, x + k * r.x_row, r.n));
}

template <class Op> void accumulate_reduced(const Rows& r, i32* acc, const i32* x) {
  for (i64 o = 0; o < r.count; ++o)
    fold_rows(Op(), kAll, r, acc + o * r.acc_outer, x + o * r.x_outer);
}

void sum_kept(const Rows& r, i32* acc, const i32* x) { accumulate_kept<Adding>(r, acc, x); }
void sum_reduced(const Rows& r, i32* acc, const i32* x) { accumulate_reduced<Adding>(r, acc, x); }
void max_kept(const Rows& r, i32* acc, const i32* x) { accumulate_kept<Largest>(r, acc, x); }
void max_reduced(const Rows& r, i32* acc, const i32* x) { accumulate_reduced<Largest>(r, acc, x); }

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {

Reducer adding(const Isa& most) {
  static constexpr Target<Accumulate> kKept[] = {LOCKSTEP_TARGETS(sum_kept)},
                                      kReduced[] = {LOCKSTEP_TARGETS(sum_reduced)};
  return {0, best_target(kKept, most), best_target(kReduced, most)};
}

Reducer largest(const Isa& most) {
  static constexpr Target<Accumulate> kKept[] = {LOCKSTEP_TARGETS(max_kept)},
                                      kReduced[] = {LOCKSTEP_TARGETS(max_reduced)};
  return {std::numeric_limits<i32>::min(), best_target(kKept, most), best_target(kReduced, most)};
}

}  // namespace lockstep::cpu
#endif
