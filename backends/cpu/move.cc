#include "backends/cpu/move.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<i32> kAll;

inline i64 lanes() { return static_cast<i64>(hn::Lanes(kAll)); }

// Copies by stores that no cache keeps, but only to whole lines: a line that other stores share
// would be written twice.
void stream_row(i32* to, const i32* from, i64 n) {
  constexpr i64 kLine = 16;
  const auto past = static_cast<i64>(reinterpret_cast<std::uintptr_t>(to) / sizeof(i32) % kLine);
  i64 i = min(n, (kLine - past) % kLine);
  std::copy_n(from, i, to);
  for (const i64 width = lanes(); i + kLine <= n; i += kLine)
    for (i64 k = i; k < i + kLine; k += width) hn::Stream(hn::LoadU(kAll, from + k), kAll, to + k);
  std::copy_n(from + i, n - i, to + i);
}

/// Rows of a box: the innermost axis, and how often it is repeated along another one.
struct Rows {
  i64 n, to_stride, from_stride;
  i64 count, to_step, from_step;
};

// Rows of at least a vector; the last vector of a row may overlap the one before it.
template <class D> void copy_vectors(D d, i32* to, const i32* from, const Rows& r) {
  const auto width = static_cast<i64>(hn::Lanes(d)), last = r.n - width;
  for (i64 k = 0; k < r.count; ++k, to += r.to_step, from += r.from_step) {
    for (i64 i = 0; i < last; i += width) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(hn::LoadU(d, from + last), d, to + last);
  }
}

void copy_rows(i32* to, const i32* from, const Rows& r, bool stream) {
  constexpr i64 kLong = 256, kWorthStreaming = 64;
  // Highway's scalars do not bypass caches.
  if (HWY_TARGET != HWY_SCALAR && stream && r.n >= kWorthStreaming) {
    for (i64 k = 0; k < r.count; ++k) stream_row(to + k * r.to_step, from + k * r.from_step, r.n);
  } else if (r.n >= kLong) {
    for (i64 k = 0; k < r.count; ++k)
      std::memcpy(
          to + k * r.to_step, from + k * r.from_step, static_cast<std::size_t>(r.n) * sizeof(i32));
  } else {
    const auto copied = [&](auto d) {
      const bool fits = r.n >= static_cast<i64>(hn::Lanes(d));
      if (fits) copy_vectors(d, to, from, r);
      return fits;
    };
    if (copied(kAll) || copied(hn::CappedTag<i32, 8>()) || copied(hn::CappedTag<i32, 4>())) return;
    for (i64 k = 0; k < r.count; ++k)
      for (i64 i = 0; i < r.n; ++i) to[k * r.to_step + i] = from[k * r.from_step + i];
  }
}

// Every kStride-th element in a vector, from at[kStride - 1] on.
template <int kStride> auto last_of_each(const i32* at) {
  auto a = hn::Zero(kAll), b = a, c = a, d = a;
  if constexpr (kStride == 2) {
    hn::LoadInterleaved2(kAll, at, a, b);
    return b;
  } else if constexpr (kStride == 3) {
    hn::LoadInterleaved3(kAll, at, a, b, c);
    return c;
  } else {
    hn::LoadInterleaved4(kAll, at, a, b, c, d);
    return d;
  }
}

// Every kStride-th element. The loads of a vector begin right behind the element before it, so that
// nothing is read beyond its last element.
template <int kStride> void pick_vectors(i32* to, const i32* from, i64 n) {
  to[0] = from[0];
  i64 i = 1;
  const i64 width = lanes(), last = n - width;
  if (last < 1) {
    for (; i < n; ++i) to[i] = from[i * kStride];
    return;
  }
  for (; i < last; i += width)
    hn::StoreU(last_of_each<kStride>(from + (i - 1) * kStride + 1), kAll, to + i);
  hn::StoreU(last_of_each<kStride>(from + (last - 1) * kStride + 1), kAll, to + last);
}

void pick_row(i32* to, const i32* from, i64 n, i64 stride) {
  if (stride == 2) return pick_vectors<2>(to, from, n);
  if (stride == 3) return pick_vectors<3>(to, from, n);
  if (stride == 4) return pick_vectors<4>(to, from, n);
  i64 i = 0;
  if (stride == -1)
    for (const i64 width = lanes(); i + width <= n; i += width)
      hn::StoreU(hn::Reverse(kAll, hn::LoadU(kAll, from - i - width + 1)), kAll, to + i);
  for (; i < n; ++i) to[i] = from[i * stride];
}

void move_row(i32* to, const i32* from, const Rows& r) {
  if (r.to_stride != 1)
    for (i64 i = 0; i < r.n; ++i) to[i * r.to_stride] = from[i * r.from_stride];
  else if (r.from_stride == 0)
    std::fill_n(to, r.n, *from);
  else
    pick_row(to, from, r.n, r.from_stride);
}

/// Rows whose elements are repeated: `times` each, the whole row `copies` times, and `count` such
/// rows.
struct Spread {
  i64 n, times;
  i64 copies, copy_step;
  i64 count, to_step, from_step;

  /// Whether all of the output is one row.
  bool is_dense() const {
    return (copies == 1 || copy_step == n * times) && to_step == copies * n * times;
  }
};

#if HWY_TARGET != HWY_SCALAR
constexpr i64 kLanesMax = HWY_LANES(i32);

// The lane of a vector of the input that each lane of `times` vectors of the output takes.
void places_of(i64 width, i64 times, i32* place) {
  for (i64 lane = 0; lane < width; ++lane, place += times)
    std::fill_n(place, times, static_cast<i32>(lane));
}

// Rows of at least a vector; the last vector of a row may overlap the one before it.
template <int kTimes, class D> void spread_vectors(D d, i32* to, const i32* from, const Spread& s) {
  i32 place[kTimes * kLanesMax];
  const auto width = static_cast<i64>(hn::Lanes(d)), last = s.n - width;
  places_of(width, kTimes, place);
  const auto first = hn::SetTableIndices(d, place), second = hn::SetTableIndices(d, place + width);
  const auto third = hn::SetTableIndices(d, place + (kTimes > 2 ? 2 : 0) * width);
  const auto fourth = hn::SetTableIndices(d, place + (kTimes > 3 ? 3 : 0) * width);
  for (i64 k = 0; k < s.count; ++k, to += s.to_step, from += s.from_step)
    for (i64 next = 0; next < s.n; next += width) {
      const i64 i = min(next, last);
      const auto v = hn::LoadU(d, from + i);
      i32* at = to + i * kTimes;
      for (i64 c = 0; c < s.copies; ++c, at += s.copy_step) {
        hn::StoreU(hn::TableLookupLanes(v, first), d, at);
        hn::StoreU(hn::TableLookupLanes(v, second), d, at + width);
        if constexpr (kTimes > 2) hn::StoreU(hn::TableLookupLanes(v, third), d, at + 2 * width);
        if constexpr (kTimes > 3) hn::StoreU(hn::TableLookupLanes(v, fourth), d, at + 3 * width);
      }
    }
}

template <int kTimes> bool spread_often(i32* to, const i32* from, const Spread& s) {
  const auto spread = [&](auto d) {
    const bool fits = s.n >= static_cast<i64>(hn::Lanes(d));
    if (fits) spread_vectors<kTimes>(d, to, from, s);
    return fits;
  };
  return spread(kAll) || spread(hn::CappedTag<i32, 8>()) || spread(hn::CappedTag<i32, 4>());
}

// Each element `times` times; each vector of the output takes its elements from one of the input.
i64 repeat_vectors(i32* to, const i32* from, i64 n, i64 times) {
  const i64 width = lanes();
  if (times >= width) {
    for (i64 i = 0; i < n; ++i, to += times) {
      const auto v = hn::Set(kAll, from[i]);
      for (i64 k = 0; k < times - width; k += width) hn::StoreU(v, kAll, to + k);
      hn::StoreU(v, kAll, to + times - width);
    }
    return n;
  }
  if (n < width) return 0;
  i32 place[kLanesMax * kLanesMax];
  places_of(width, times, place);
  i64 i = 0;
  for (; i + width <= n; i += width) {
    const auto v = hn::LoadU(kAll, from + i);
    for (i64 k = 0; k < times; ++k)
      hn::StoreU(hn::TableLookupLanes(v, hn::SetTableIndices(kAll, place + k * width)), kAll,
          to + i * times + k * width);
  }
  return i;
}
#endif

void spread(i32* to, const i32* from, const Spread& s) {
#if HWY_TARGET != HWY_SCALAR
  if (s.times == 2 && spread_often<2>(to, from, s)) return;
  if (s.times == 3 && spread_often<3>(to, from, s)) return;
  if (s.times == 4 && spread_often<4>(to, from, s)) return;
#endif
  for (i64 k = 0; k < s.count; ++k)
    for (i64 c = 0; c < s.copies; ++c) {
      const i32* row = from + k * s.from_step;
      i32* at = to + k * s.to_step + c * s.copy_step;
      i64 i = 0;
#if HWY_TARGET != HWY_SCALAR
      i = repeat_vectors(at, row, s.n, s.times);
#endif
      for (; i < s.n; ++i) std::fill_n(at + i * s.times, s.times, row[i]);
    }
}

// Rows that bypass the caches are made within the first one, because they fill no whole lines.
void spread_streaming(i32* to, const i32* from, Spread s) {
  constexpr i64 kRoom = 2048;
  alignas(64) i32 room[kRoom];
  const i64 left = s.count, at_once = kRoom / s.to_step;
  for (i64 k = 0; k < left; k += s.count) {
    s.count = min(at_once, left - k);
    spread(room, from + k * s.from_step, s);
    stream_row(to + k * s.to_step, room, s.count * s.to_step);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four columns of every fourth row.
template <class D> hn::Vec<D> load_rows(D d, const i32* at, i64 stride) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, at);
  } else {
    const hn::Half<D> half;
    const i64 further = static_cast<i64>(hn::Lanes(half)) * stride;
    return hn::Combine(d, load_rows(half, at + further, stride), load_rows(half, at, stride));
  }
}

// Four columns of as many rows as a vector has lanes.
template <class D> void turn_block(D d, i32* to, const i32* from, i64 to_stride, i64 from_stride) {
  const hn::Repartition<i64, D> pairs;
  const auto load = [&](i64 row) { return load_rows(d, from + row * from_stride, from_stride); };
  const auto store = [&](auto v, i64 column) {
    hn::StoreU(hn::BitCast(d, v), d, to + column * to_stride);
  };
  const auto r0 = load(0), r1 = load(1), r2 = load(2), r3 = load(3);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  store(hn::InterleaveLower(pairs, low01, low23), 0);
  store(hn::InterleaveUpper(pairs, low01, low23), 1);
  store(hn::InterleaveLower(pairs, high01, high23), 2);
  store(hn::InterleaveUpper(pairs, high01, high23), 3);
}

// Rows from `first` on, in stripes that fill a cache line of each column, as far as whole vectors
// go. The last columns may be done twice. @return the first row left
template <class D> i64 turn_stripes(D d, i32* to, const i32* from, i64 first, i64 rows, i64 columns,
    i64 to_stride, i64 from_stride) {
  constexpr i64 kLine = 16;
  const auto height = static_cast<i64>(hn::Lanes(d));
  while (first + height <= rows) {
    const i64 stripe = max(height, min(kLine, (rows - first) / height * height));
    for (i64 c = 0; c < columns; c += 4) {
      const i64 column = min(c, columns - 4);
      for (i64 r = first; r < first + stripe; r += height)
        turn_block(d, to + column * to_stride + r, from + r * from_stride + column, to_stride,
            from_stride);
    }
    first += stripe;
  }
  return first;
}
#endif

// A transposition: to[c * to_stride + r] = from[r * from_stride + c].
void turn(i32* to, const i32* from, i64 rows, i64 columns, i64 to_stride, i64 from_stride) {
  i64 r = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto stripes = [&](auto d) {
    r = turn_stripes(d, to, from, r, rows, columns, to_stride, from_stride);
  };
  if (columns >= 4) {
    stripes(hn::CappedTag<i32, 16>());
    stripes(hn::CappedTag<i32, 8>());
    stripes(hn::CappedTag<i32, 4>());
  }
#endif
  for (i64 c = 0; c < columns; ++c)
    for (i64 k = r; k < rows; ++k) to[c * to_stride + k] = from[k * from_stride + c];
}

// Two to four rows become the channels of one: to[c * rows + r] = from[r * from_stride + c].
void weave(i32* to, const i32* from, i64 rows, i64 columns, i64 from_stride) {
  const i64 width = lanes();
  const auto row = [&](i64 r, i64 c) { return hn::LoadU(kAll, from + r * from_stride + c); };
  i64 c = 0;
  for (; c + width <= columns; c += width) {
    i32* at = to + c * rows;
    if (rows == 2)
      hn::StoreInterleaved2(row(0, c), row(1, c), kAll, at);
    else if (rows == 3)
      hn::StoreInterleaved3(row(0, c), row(1, c), row(2, c), kAll, at);
    else
      hn::StoreInterleaved4(row(0, c), row(1, c), row(2, c), row(3, c), kAll, at);
  }
  for (; c < columns; ++c)
    for (i64 r = 0; r < rows; ++r) to[c * rows + r] = from[r * from_stride + c];
}

// The two to four channels of a row become rows: to[c * to_stride + r] = from[r * channels + c].
void unweave(i32* to, const i32* from, i64 rows, i64 channels, i64 to_stride) {
  const i64 width = lanes();
  auto a = hn::Zero(kAll), b = a, c = a, d = a;
  const auto store = [&](auto v, i64 channel, i64 r) {
    hn::StoreU(v, kAll, to + channel * to_stride + r);
  };
  i64 r = 0;
  for (; r + width <= rows; r += width) {
    const i32* at = from + r * channels;
    if (channels == 2)
      hn::LoadInterleaved2(kAll, at, a, b);
    else if (channels == 3)
      hn::LoadInterleaved3(kAll, at, a, b, c);
    else
      hn::LoadInterleaved4(kAll, at, a, b, c, d);
    store(a, 0, r);
    store(b, 1, r);
    if (channels > 2) store(c, 2, r);
    if (channels > 3) store(d, 3, r);
  }
  for (; r < rows; ++r)
    for (i64 k = 0; k < channels; ++k) to[k * to_stride + r] = from[r * channels + k];
}

// The axes of a box that are done at once, or -1; the others are loops around them.
struct Inner {
  int row, column;
  void (*move)(const Move& box, const Inner& in, i32* to, const i32* from, bool stream);
  int copies = -1, around = -1;

  bool has(int d) const { return d == row || d == column || d == copies || d == around; }
};

Rows rows_of(const Move& m, const Inner& in) {
  const auto r = static_cast<std::size_t>(in.row);
  if (in.column < 0) return {m.extent[r], m.to[r], m.from[r], 1, 0, 0};
  const auto c = static_cast<std::size_t>(in.column);
  return {m.extent[r], m.to[r], m.from[r], m.extent[c], m.to[c], m.from[c]};
}

void move_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool stream) {
  const Rows r = rows_of(m, in);
  if (r.to_stride == 1 && r.from_stride == 1) return copy_rows(to, from, r, stream);
  for (i64 k = 0; k < r.count; ++k) move_row(to + k * r.to_step, from + k * r.from_step, r);
}

void spread_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool stream) {
  constexpr i64 kLongest = 1024;
  const Rows r = rows_of(m, in);
  Spread s{r.count, r.n, 1, 0, 1, 0, 0};
  if (in.copies >= 0) {
    const auto d = static_cast<std::size_t>(in.copies);
    s.copies = m.extent[d];
    s.copy_step = m.to[d];
  }
  if (in.around >= 0) {
    const auto d = static_cast<std::size_t>(in.around);
    s.count = m.extent[d];
    s.to_step = m.to[d];
    s.from_step = m.from[d];
  }
  // Highway's scalars do not bypass caches.
  if (HWY_TARGET != HWY_SCALAR && stream && s.is_dense() && s.to_step <= kLongest)
    spread_streaming(to, from, s);
  else
    spread(to, from, s);
}

void turn_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool) {
  const Rows r = rows_of(m, in);
  if (2 <= r.n && r.n <= 4 && r.to_step == r.n)
    weave(to, from, r.n, r.count, r.from_stride);
  else if (2 <= r.count && r.count <= 4 && r.from_stride == r.count)
    unweave(to, from, r.n, r.count, r.to_step);
  else
    turn(to, from, r.n, r.count, r.to_step, r.from_stride);
}

// Adds the innermost axis that repeats the row, and the innermost one that does not.
Inner spread_inner(const Move& m, int row, int column) {
  Inner in{row, column, spread_rows};
  for (int d = row - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    if (d == column || m.extent[at] == 1) continue;
    int& axis = m.from[at] == 0 ? in.copies : in.around;
    if (axis < 0) axis = d;
  }
  return in;
}

Inner inner_of(const Move& m) {
  const int row = m.rank - 1;
  const auto at = [](int d) { return static_cast<std::size_t>(d); };
  const Inner plain{row, row - 1, move_rows};
  if (m.to[at(row)] != 1 || m.from[at(row)] == 1) return plain;
  for (int d = row - 1; d >= 0; --d) {
    if (m.from[at(d)] != 1 || m.extent[at(d)] == 1) continue;
    if (m.from[at(row)] != 0) return {row, d, turn_rows};
    if (m.to[at(d)] == m.extent[at(row)]) return spread_inner(m, row, d);
  }
  return plain;
}

void move_any_box(const Move& m, i32* to, const i32* from, bool stream) {
  if (m.rank == 0) {
    *to = *from;
    return;
  }
  const Inner in = inner_of(m);
  int outer[kLoopAxesMax], count = 0;
  for (int d = 0; d < m.rank; ++d)
    if (!in.has(d) && m.extent[static_cast<std::size_t>(d)] > 1) outer[count++] = d;
  i64 position[kLoopAxesMax] = {};
  for (;;) {
    in.move(m, in, to, from, stream);
    int k = count - 1;
    for (; k >= 0; --k) {
      const auto d = static_cast<std::size_t>(outer[k]);
      to += m.to[d];
      from += m.from[d];
      if (++position[k] < m.extent[d]) break;
      to -= m.to[d] * m.extent[d];
      from -= m.from[d] * m.extent[d];
      position[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {

MoveBox move_box(const Isa& most) {
  static constexpr Target<void(const Move&, i32*, const i32*, bool)> kTargets[] = {
      LOCKSTEP_TARGETS(move_any_box)};
  return best_target(kTargets, most);
}

}  // namespace lockstep::cpu
#endif
