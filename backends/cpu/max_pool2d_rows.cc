#include <algorithm>

#include "backends/cpu/max_pool2d.h"
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/max_pool2d_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<i32> kAll;
constexpr i64 kAhead = 4096;  // how far ahead elements are prefetched

// Prefetches lines of the image, if rows of windows that share no line follow each other: the
// processor does not foresee that two or three lines are read at a time.
inline void ask_for(const i32* x, i64 lines, i64 row) {
  constexpr i64 kMost = 1024, kLine = 16;
  if (row < lines || row > kMost) return;
  for (i64 i = 0; i < row; i += kLine) {
    __builtin_prefetch(x + i);
    asm volatile("");  // or a compiler takes this for a loop that does nothing
  }
}

// Takes kTaps taps, or as many as the argument says if that is 0. The last vector overlaps others.
template <int kTaps, class D> void max_of_rows(D d, const MaxRows& m, i32* to, const i32* from) {
  const i64 taps = kTaps > 0 ? kTaps : m.taps, tap = m.tap, n = m.n;
  const auto width = static_cast<i64>(hn::Lanes(d)), whole = n / width * width;
  if constexpr (hn::MaxLanes(D()) > 4) {
    if (n < width) return max_of_rows<kTaps>(hn::Half<D>(), m, to, from);
  }
  for (i64 o = 0; o < m.count; ++o)
    for (i64 r = 0; r < m.rows; ++r) {
      const i32* x = from + o * m.from_outer + r * m.from_row;
      i32* y = to + o * m.to_outer + r * m.to_row;
      const auto store = [&](i64 i) HWY_ATTR {
        auto v = hn::LoadU(d, x + i);
        for (i64 k = 1; k < taps; ++k) v = hn::Max(v, hn::LoadU(d, x + k * tap + i));
        hn::StoreU(v, d, y + i);
      };
      ask_for(x + kAhead, taps * tap, m.from_row);
      for (i64 i = 0; i < whole; i += width) store(i);
      if (whole == n) continue;
      if (n >= width) {
        store(n - width);
        continue;
      }
      for (i64 i = 0; i < n; ++i) {
        i32 v = x[i];
        for (i64 k = 1; k < taps; ++k) v = std::max(v, x[k * tap + i]);
        y[i] = v;
      }
    }
}

void max_rows(const MaxRows& m, i32* to, const i32* from) {
  switch (m.taps) {
    case 1: return max_of_rows<1>(kAll, m, to, from);
    case 2: return max_of_rows<2>(kAll, m, to, from);
    case 3: return max_of_rows<3>(kAll, m, to, from);
    case 4: return max_of_rows<4>(kAll, m, to, from);
    case 5: return max_of_rows<5>(kAll, m, to, from);
    default: return max_of_rows<0>(kAll, m, to, from);
  }
}

// Windows of constant size, or of the size in the argument if that is 0. Takes the maxima of lines
// first, because the vectors are then taken apart, which costs more than a comparison.
template <int kStep, int kSize, class D>
void small_windows_of(D d, const SmallWindows& w, i32* to, const i32* from) {
  const auto width = static_cast<i64>(hn::Lanes(d));
  if constexpr (hn::MaxLanes(D()) > 4) {
    if (w.n < width) return small_windows_of<kStep, kSize>(hn::Half<D>(), w, to, from);
  }
  const i64 lines = kSize > 0 ? kSize : w.lines, columns = kSize > 0 ? kSize : w.width;
  for (i64 o = 0; o < w.count; ++o)
    for (i64 r = 0; r < w.rows; ++r) {
      const i32* x = from + o * w.from_outer + r * w.from_row;
      i32* y = to + o * w.to_outer + r * w.to_row;
      const auto line_max = [&](i64 i) HWY_ATTR {
        auto v = hn::LoadU(d, x + i);
        for (i64 k = 1; k < lines; ++k) v = hn::Max(v, hn::LoadU(d, x + k * w.line + i));
        return v;
      };
      const auto pair_max = [&](i64 i) HWY_ATTR {
        const auto low = line_max(i), high = line_max(i + width);
#if HWY_TARGET == HWY_SCALAR
        return hn::Max(low, high);
#else
        return hn::Max(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
#endif
      };
      const auto store = [&](i64 i) HWY_ATTR {
        if constexpr (kStep == 1) {
          auto v = line_max(i);
          for (i64 k = 1; k < columns; ++k) v = hn::Max(v, line_max(i + k * w.cell));
          hn::StoreU(v, d, y + i);
        } else {
          auto v = pair_max(2 * i);
          if (columns > 2) v = hn::Max(v, pair_max(2 * i + columns - 2));
          hn::StoreU(v, d, y + i);
        }
      };
      // A vector of one lane compares without a branch, which no processor could foresee. Up to
      // four columns are written out, because a compiler had better not vectorize them.
      const auto one_max = [&](const i32* at, i64 n) HWY_ATTR {
        const hn::CappedTag<i32, 1> one;
        auto v = hn::LoadU(one, at);
        for (i64 k = 0; k < lines; ++k, at += w.line) {
          v = hn::Max(v, hn::LoadU(one, at));
          if (n > 1) v = hn::Max(v, hn::LoadU(one, at + w.cell));
          if (n > 2) v = hn::Max(v, hn::LoadU(one, at + 2 * w.cell));
          if (n > 3) v = hn::Max(v, hn::LoadU(one, at + 3 * w.cell));
        }
        return hn::GetLane(v);
      };
      i64 i = 0;
      if (w.n >= width) ask_for(x + kAhead, lines * w.line, w.from_row);
      if (w.edge > 0) y[-1] = one_max(x - w.edge_start, w.edge);
      for (; i + width <= w.n; i += width) store(i);
      if (i == w.n) continue;
      if (w.n >= width) {
        store(w.n - width);
        continue;
      }
      for (; i < w.n; ++i) y[i] = one_max(x + kStep * i, columns);
    }
}

template <int kStep> void small_windows_by(const SmallWindows& w, i32* to, const i32* from) {
  if (w.lines == 2 && w.width == 2) return small_windows_of<kStep, 2>(kAll, w, to, from);
  if (w.lines == 3 && w.width == 3) return small_windows_of<kStep, 3>(kAll, w, to, from);
  return small_windows_of<kStep, 0>(kAll, w, to, from);
}

void small_windows(const SmallWindows& w, i32* to, const i32* from) {
  if (w.step == 1) return small_windows_by<1>(w, to, from);
  return small_windows_by<2>(w, to, from);
}

// Every kStep-th element or, with `neighbours`, the largest of the kStep elements from there on.
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

// Takes kTaps taps, or as many as the argument says if that is 0.
template <int kStep, int kTaps> void slide_taps(const Slide& s, i32* to, const i32* from) {
  const auto width = static_cast<i64>(hn::Lanes(kAll));
  const i64 taps = kTaps > 0 ? kTaps : s.taps;
  const bool neighbours = s.tap == 1 && taps >= kStep;
  for (i64 r = 0; r < s.rows; ++r, to += s.n, from += s.from_row)
    for (i64 i = 0; i < s.n; i += width) {
      const i32* at = from + i * kStep;
      auto v = picked<kStep>(at, neighbours);
      i64 k = 1;
      if (neighbours) k = kStep;
      for (; s.tap == 1 && k + kStep <= taps; k += kStep)
        v = hn::Max(v, picked<kStep>(at + k, true));
      for (; k < taps; ++k) v = hn::Max(v, picked<kStep>(at + k * s.tap, false));
      hn::StoreU(v, kAll, to + i);
    }
}

template <int kStep> void slide_by(const Slide& s, i32* to, const i32* from) {
  switch (s.taps) {
    case 2: return slide_taps<kStep, 2>(s, to, from);
    case 3: return slide_taps<kStep, 3>(s, to, from);
    case 5: return slide_taps<kStep, 5>(s, to, from);
    default: return slide_taps<kStep, 0>(s, to, from);
  }
}

void slide(const Slide& s, i32* to, const i32* from) {
  switch (s.step) {
    case 1: return slide_by<1>(s, to, from);
    case 2: return slide_by<2>(s, to, from);
    case 3: return slide_by<3>(s, to, from);
    case 4: return slide_by<4>(s, to, from);
    default: break;
  }
  for (i64 r = 0; r < s.rows; ++r, from += s.from_row)
    for (i64 i = 0; i < s.n; ++i) {
      i32 v = from[i * s.step];
      for (i64 k = 1; k < s.taps; ++k) v = std::max(v, from[i * s.step + k * s.tap]);
      *to++ = v;
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
  static constexpr Target<void(const Slide&, i32*, const i32*)> kSlide[] = {
      LOCKSTEP_TARGETS(slide)};
  static constexpr Target<void(const SmallWindows&, i32*, const i32*)> kSmallWindows[] = {
      LOCKSTEP_TARGETS(small_windows)};
  static constexpr Target<void(i32*, i64, i64)> kWiden[] = {LOCKSTEP_TARGETS(widen)};
  return {best_target(kRows, most), best_target(kSmallWindows, most), best_target(kSlide, most),
      best_target(kWiden, most)};
}

}  // namespace lockstep::cpu
#endif
