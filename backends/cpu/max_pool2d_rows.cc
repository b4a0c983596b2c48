#include <algorithm>

#include "backends/cpu/max_pool2d.h"
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/max_pool2d_rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<i32> kAll;

// kTaps, or as many as the argument says if that is 0. The last vector overlaps the one before.
template <int kTaps, class D>
void max_row(D d, i32* to, const i32* from, i64 n, i64 dynamic_taps, i64 tap) {
  const i64 taps = kTaps > 0 ? kTaps : dynamic_taps;
  const auto width = static_cast<i64>(hn::Lanes(d));
  if constexpr (hn::MaxLanes(D()) > 4) {
    if (n < width) return max_row<kTaps>(hn::Half<D>(), to, from, n, dynamic_taps, tap);
  } else if (n < width) {
    for (i64 i = 0; i < n; ++i) {
      to[i] = from[i];
      for (i64 k = 1; k < taps; ++k) to[i] = std::max(to[i], from[k * tap + i]);
    }
    return;
  }
  const auto store = [&](i64 i) HWY_ATTR {
    auto v = hn::LoadU(d, from + i);
    for (i64 k = 1; k < taps; ++k) v = hn::Max(v, hn::LoadU(d, from + k * tap + i));
    hn::StoreU(v, d, to + i);
  };
  i64 i = 0;
  for (; i + width <= n; i += width) store(i);
  if (i < n) store(n - width);
}

template <int kTaps> void max_of_rows(const MaxRows& m, i32* to, const i32* from) {
  for (i64 o = 0; o < m.count; ++o)
    for (i64 r = 0; r < m.rows; ++r)
      max_row<kTaps>(kAll, to + o * m.to_outer + r * m.to_row,
          from + o * m.from_outer + r * m.from_row, m.n, m.taps, m.tap);
}

void max_rows(const MaxRows& m, i32* to, const i32* from) {
  switch (m.taps) {
    case 1: return max_of_rows<1>(m, to, from);
    case 2: return max_of_rows<2>(m, to, from);
    case 3: return max_of_rows<3>(m, to, from);
    default: return max_of_rows<0>(m, to, from);
  }
}

// Every kStep-th element; with kStep neighbours, the largest of so many from each on.
template <int kStep> auto picked(const i32* from, bool neighbours) {
  auto a = hn::Zero(kAll), b = a, c = a, d = a;
  if constexpr (kStep == 1) return hn::LoadU(kAll, from);
  if constexpr (kStep == 2) hn::LoadInterleaved2(kAll, from, a, b);
  if constexpr (kStep == 3) hn::LoadInterleaved3(kAll, from, a, b, c);
  if constexpr (kStep == 4) hn::LoadInterleaved4(kAll, from, a, b, c, d);
  if (neighbours && kStep > 1) a = hn::Max(a, b);
  if (neighbours && kStep > 2) a = hn::Max(a, c);
  if (neighbours && kStep > 3) a = hn::Max(a, d);
  return a;
}

template <int kStep> void slide_by(i32* to, const i32* from, i64 n, i64 taps, i64 tap) {
  const auto width = static_cast<i64>(hn::Lanes(kAll));
  for (i64 i = 0; i < n; i += width) {
    const i32* at = from + i * kStep;
    i64 k = tap == 1 && taps >= kStep ? kStep : 1;
    auto v = picked<kStep>(at, k == kStep);
    for (; tap == 1 && k + kStep <= taps; k += kStep) v = hn::Max(v, picked<kStep>(at + k, true));
    for (; k < taps; ++k) v = hn::Max(v, picked<kStep>(at + k * tap, false));
    hn::StoreU(v, kAll, to + i);
  }
}

void slide(i32* to, const i32* from, i64 n, i64 step, i64 taps, i64 tap) {
  switch (step) {
    case 1: return slide_by<1>(to, from, n, taps, tap);
    case 2: return slide_by<2>(to, from, n, taps, tap);
    case 3: return slide_by<3>(to, from, n, taps, tap);
    case 4: return slide_by<4>(to, from, n, taps, tap);
    default: break;
  }
  for (i64 i = 0; i < n; ++i) {
    to[i] = from[i * step];
    for (i64 k = 1; k < taps; ++k) to[i] = std::max(to[i], from[i * step + k * tap]);
  }
}

void widen(i32* at, i64 n, i64 step) {
  const auto width = static_cast<i64>(hn::Lanes(kAll));
  for (i64 i = 0; i < n; i += width)
    hn::StoreU(hn::Max(hn::LoadU(kAll, at + i), hn::LoadU(kAll, at + i + step)), kAll, at + i);
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {

PoolLoops pool_loops(const Isa& most) {
  static constexpr Target<void(const MaxRows&, i32*, const i32*)> kRows[] = {
      LOCKSTEP_TARGETS(max_rows)};
  static constexpr Target<void(i32*, const i32*, i64, i64, i64, i64)> kSlide[] = {
      LOCKSTEP_TARGETS(slide)};
  static constexpr Target<void(i32*, i64, i64)> kWiden[] = {LOCKSTEP_TARGETS(widen)};
  return {best_target(kRows, most), best_target(kSlide, most), best_target(kWiden, most)};
}

}  // namespace lockstep::cpu
#endif
