#include "backends/cpu/move.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<i32> kAll;
#if HWY_TARGET != HWY_SCALAR
const hn::CappedTag<i32, 8> kBlocks;  // of a transposition
#endif

inline i64 lanes() { return static_cast<i64>(hn::Lanes(kAll)); }

// Stores to whole vectors that no cache keeps.
void stream_row(i32* to, const i32* from, i64 n) {
  const i64 width = lanes(), bytes = width * static_cast<i64>(sizeof(i32));
  const auto past = static_cast<i64>(reinterpret_cast<std::uintptr_t>(to)) & (bytes - 1);
  i64 i = min(n, (bytes - past) % bytes / static_cast<i64>(sizeof(i32)));
  std::copy_n(from, i, to);
  for (; i + width <= n; i += width) hn::Stream(hn::LoadU(kAll, from + i), kAll, to + i);
  std::copy_n(from + i, n - i, to + i);
}

void copy_row(i32* to, const i32* from, i64 n, bool stream) {
  constexpr i64 kWorthStreaming = 64;
  if (stream && n >= kWorthStreaming) return stream_row(to, from, n);
  if (n >= 16) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(i32));
    return;
  }
  for (i64 i = 0; i < n; ++i) to[i] = from[i];
}

// Every `stride`-th of a row: whole vectors are taken apart where Highway can.
void pick_row(i32* to, const i32* from, i64 n, i64 stride) {
  const i64 width = lanes();
  i64 i = 0;
  auto a = hn::Zero(kAll), b = a, c = a, d = a;
  // The last vector would read beyond the last element.
  if (stride == 2)
    for (; i + width < n; i += width) {
      hn::LoadInterleaved2(kAll, from + 2 * i, a, b);
      hn::StoreU(a, kAll, to + i);
    }
  if (stride == 3)
    for (; i + width < n; i += width) {
      hn::LoadInterleaved3(kAll, from + 3 * i, a, b, c);
      hn::StoreU(a, kAll, to + i);
    }
  if (stride == 4)
    for (; i + width < n; i += width) {
      hn::LoadInterleaved4(kAll, from + 4 * i, a, b, c, d);
      hn::StoreU(a, kAll, to + i);
    }
  if (stride == -1)
    for (; i + width <= n; i += width)
      hn::StoreU(hn::Reverse(kAll, hn::LoadU(kAll, from - i - width + 1)), kAll, to + i);
  for (; i < n; ++i) to[i] = from[i * stride];
}

void move_row(i32* to, const i32* from, i64 n, i64 to_stride, i64 from_stride, bool stream) {
  if (to_stride != 1) {
    for (i64 i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  } else if (from_stride == 1) {
    copy_row(to, from, n, stream);
  } else if (from_stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    pick_row(to, from, n, from_stride);
  }
}

// Each element of a row `times` times.
void spread_row(i32* to, const i32* from, i64 n, i64 times) {
  i64 i = 0;
  if (times == 2)
    for (const i64 width = lanes(); i + width <= n; i += width) {
      const auto v = hn::LoadU(kAll, from + i);
      hn::StoreInterleaved2(v, v, kAll, to + 2 * i);
    }
  for (; i < n; ++i)
    for (i64 k = 0; k < times; ++k) to[i * times + k] = from[i];
}

#if HWY_TARGET != HWY_SCALAR
// Four columns of as many rows as a vector has lanes.
void turn_block(i32* to, const i32* from, i64 to_stride, i64 from_stride) {
  const hn::Repartition<i64, decltype(kBlocks)> pairs;
  const auto load = [&](i64 row) {
    const i32* at = from + row * from_stride;
    if constexpr (hn::MaxLanes(kBlocks) == 8) {
      const hn::Half<std::remove_const_t<decltype(kBlocks)>> half;
      return hn::Combine(kBlocks, hn::LoadU(half, at + 4 * from_stride), hn::LoadU(half, at));
    } else {
      return hn::LoadU(kBlocks, at);
    }
  };
  const auto store = [&](auto v, i64 column) {
    hn::StoreU(hn::BitCast(kBlocks, v), kBlocks, to + column * to_stride);
  };
  const auto a = load(0), b = load(1), c = load(2), d = load(3);
  const auto ab = hn::BitCast(pairs, hn::InterleaveLower(kBlocks, a, b));
  const auto cd = hn::BitCast(pairs, hn::InterleaveLower(kBlocks, c, d));
  const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(kBlocks, a, b));
  const auto cd_high = hn::BitCast(pairs, hn::InterleaveUpper(kBlocks, c, d));
  store(hn::InterleaveLower(pairs, ab, cd), 0);
  store(hn::InterleaveUpper(pairs, ab, cd), 1);
  store(hn::InterleaveLower(pairs, ab_high, cd_high), 2);
  store(hn::InterleaveUpper(pairs, ab_high, cd_high), 3);
}
#endif

// A transposition: to[c * to_stride + r] = from[r * from_stride + c].
void turn(i32* to, const i32* from, i64 rows, i64 columns, i64 to_stride, i64 from_stride) {
  i64 r = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto height = static_cast<i64>(hn::Lanes(kBlocks));
  for (; r + height <= rows; r += height) {
    i64 c = 0;
    for (; c + 4 <= columns; c += 4)
      turn_block(to + c * to_stride + r, from + r * from_stride + c, to_stride, from_stride);
    for (; c < columns; ++c)
      for (i64 k = r; k < r + height; ++k) to[c * to_stride + k] = from[k * from_stride + c];
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

// The channels of one row, two to four, become rows: to[c * to_stride + r] = from[r * columns + c].
void unweave(i32* to, const i32* from, i64 rows, i64 columns, i64 to_stride) {
  const i64 width = lanes();
  auto a = hn::Zero(kAll), b = a, c = a, d = a;
  i64 r = 0;
  for (; r + width <= rows; r += width) {
    const i32* at = from + r * columns;
    if (columns == 2)
      hn::LoadInterleaved2(kAll, at, a, b);
    else if (columns == 3)
      hn::LoadInterleaved3(kAll, at, a, b, c);
    else
      hn::LoadInterleaved4(kAll, at, a, b, c, d);
    hn::StoreU(a, kAll, to + r);
    hn::StoreU(b, kAll, to + to_stride + r);
    if (columns > 2) hn::StoreU(c, kAll, to + 2 * to_stride + r);
    if (columns > 3) hn::StoreU(d, kAll, to + 3 * to_stride + r);
  }
  for (; r < rows; ++r)
    for (i64 k = 0; k < columns; ++k) to[k * to_stride + r] = from[r * columns + k];
}

// The two axes of a box that are done at once; the others are loops around them.
struct Inner {
  int row, column;  // column < 0: only the row
  void (*move)(const Move& box, const Inner& in, i32* to, const i32* from, bool stream);
};

void move_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool stream) {
  const auto d = static_cast<std::size_t>(in.row);
  move_row(to, from, m.extent[d], m.to[d], m.from[d], stream);
}
void spread_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool) {
  spread_row(to, from, m.extent[static_cast<std::size_t>(in.column)],
      m.extent[static_cast<std::size_t>(in.row)]);
}
void turn_rows(const Move& m, const Inner& in, i32* to, const i32* from, bool) {
  const auto r = static_cast<std::size_t>(in.row), c = static_cast<std::size_t>(in.column);
  const i64 rows = m.extent[r], columns = m.extent[c];
  if (2 <= rows && rows <= 4 && m.to[c] == rows)
    weave(to, from, rows, columns, m.from[r]);
  else if (2 <= columns && columns <= 4 && m.from[r] == columns)
    unweave(to, from, rows, columns, m.to[c]);
  else
    turn(to, from, rows, columns, m.to[c], m.from[r]);
}

Inner inner_of(const Move& m) {
  const int row = m.rank - 1;
  const auto at = [](int d) { return static_cast<std::size_t>(d); };
  if (m.to[at(row)] != 1 || m.from[at(row)] == 1) return {row, -1, move_rows};
  for (int d = row - 1; d >= 0; --d) {
    if (m.from[at(d)] != 1 || m.extent[at(d)] == 1) continue;
    if (m.from[at(row)] != 0) return {row, d, turn_rows};
    if (m.to[at(d)] == m.extent[at(row)]) return {row, d, spread_rows};
  }
  return {row, -1, move_rows};
}

void move_any_box(const Move& m, i32* to, const i32* from, bool stream) {
  if (m.rank == 0) {
    *to = *from;
    return;
  }
  const Inner in = inner_of(m);
  int outer[kLoopAxesMax], count = 0;
  for (int d = 0; d < m.rank; ++d)
    if (d != in.row && d != in.column && m.extent[static_cast<std::size_t>(d)] > 1)
      outer[count++] = d;
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
