/// @file
/// take and cvm_lut: elements or rows that clamped indices choose.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/nests.h"
#include "backends/cpu/targets.h"

#ifndef LOCKSTEP_GATHER
#define LOCKSTEP_GATHER
namespace lockstep::cpu {
namespace {

/// A table whose entries follow each other in memory.
struct Table {
  const i32* entry;
  i32 last;        ///< number of the last entry
  bool is_narrow;  ///< whether 16 bits hold every entry
};

// Four elements in a register of any instruction set. Single loads into its lanes are faster than
// gathers of four, eight or sixteen.
using Four = i32 __attribute__((vector_size(16)));
using Pairs = std::uint64_t __attribute__((vector_size(16)));

}  // namespace
}  // namespace lockstep::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gather.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr i64 kPartEntries = 64;  // of a table, as words in two registers
constexpr int kPartsMax = 5;

// Looks up 32 elements at once in a table that registers hold; with `stream`, y must begin a cache
// line.
// @return how many it has done.
template <int kParts>
i64 look_up_words(i32* y, const i32* index, i64 n, const Table& t, bool stream) {
  alignas(64) std::int16_t words[kParts * kPartEntries] = {};
  for (i32 k = 0; k <= t.last; ++k) words[k] = static_cast<std::int16_t>(t.entry[k]);
  __m512i low[kParts], high[kParts];
  for (int p = 0; p < kParts; ++p) {
    low[p] = _mm512_load_si512(words + p * kPartEntries);
    high[p] = _mm512_load_si512(words + p * kPartEntries + kPartEntries / 2);
  }
  const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi32(t.last);
  const auto load = [&](const i32* at) HWY_ATTR {
    return _mm512_max_epi32(zero, _mm512_min_epi32(last, _mm512_loadu_si512(at)));
  };
  const auto store = [stream](i32* at, __m512i v) HWY_ATTR {
    stream ? _mm512_stream_si512(reinterpret_cast<__m512i*>(at), v) : _mm512_storeu_si512(at, v);
  };
  i64 i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512i at =
        _mm512_or_si512(load(index + i), _mm512_slli_epi32(load(index + i + 16), 16));
    __m512i v = _mm512_permutex2var_epi16(low[0], at, high[0]);
    for (int p = 1; p < kParts; ++p) {
      const __m512i first = _mm512_set1_epi16(static_cast<std::int16_t>(p * kPartEntries));
      v = _mm512_mask_mov_epi16(
          v, _mm512_cmpge_epu16_mask(at, first), _mm512_permutex2var_epi16(low[p], at, high[p]));
    }
    store(y + i, _mm512_srai_epi32(_mm512_slli_epi32(v, 16), 16));
    store(y + i + 16, _mm512_srai_epi32(v, 16));
  }
  return i;
}

i64 look_up_words(i32* y, const i32* index, i64 n, const Table& t, bool stream) {
  constexpr i64 kWorthPacking = 1024;
  if (!t.is_narrow || n < kWorthPacking || t.last >= kPartsMax * kPartEntries) return 0;
  using LookUp = i64 (*)(i32*, const i32*, i64, const Table&, bool);
  constexpr LookUp kLookUps[kPartsMax] = {
      look_up_words<1>, look_up_words<2>, look_up_words<3>, look_up_words<4>, look_up_words<5>};
  return kLookUps[t.last / kPartEntries](y, index, n, t, stream);
}
#else
i64 look_up_words(i32*, const i32*, i64, const Table&, bool) { return 0; }
#endif

#if HWY_TARGET == HWY_SCALAR
void store(i32* y, const Four& v, bool) { std::memcpy(y, &v, sizeof v); }
#else
void store(i32* y, const Four& v, bool stream) {
  const hn::Full128<i32> four;
  const auto value = hn::LoadU(four, reinterpret_cast<const i32*>(&v));
  stream ? hn::Stream(value, four, y) : hn::StoreU(value, four, y);
}
#endif

// y[i] = the entry of number index[i]. With `stream`, y bypasses the caches.
void look_up(i32* y, const i32* index, i64 n, const Table& t, bool stream) {
  const i32* const entry = t.entry;
  const auto one = [&](i64 k) { y[k] = entry[clamp(index[k], 0, t.last)]; };
  i64 i = 0;
  for (; stream && i < n && reinterpret_cast<std::uintptr_t>(y + i) % 64 != 0; ++i) one(i);
  i += look_up_words(y + i, index + i, n - i, t, stream);
  constexpr i64 kAheadIndices = 256;
  const Four zero = {}, last = zero + t.last;
  for (; i + 4 <= n; i += 4) {
    // Indices that are read only once should not push the table out of the caches.
    if (stream) __builtin_prefetch(index + i + kAheadIndices, 0, 0);
    Four at;
    std::memcpy(&at, index + i, sizeof at);
    at = at < zero ? zero : at;
    at = at > last ? last : at;
    const auto pairs = reinterpret_cast<Pairs>(at);
    const std::uint64_t a = pairs[0], b = pairs[1];
    const Four v = {entry[a & 0xffffffff], entry[a >> 32], entry[b & 0xffffffff], entry[b >> 32]};
    store(y + i, v, stream);
  }
  for (; i < n; ++i) one(i);
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

constexpr i64 kBoxElements = i64{1} << 13;
constexpr double kElementNs = 0.4;

using LookUp = void (*)(i32* y, const i32* index, i64 n, const Table& t, bool stream);

LookUp look_up_on(const Isa& most) {
  static constexpr Target<void(i32*, const i32*, i64, const Table&, bool)> kTargets[] = {
      LOCKSTEP_TARGETS(look_up)};
  return best_target(kTargets, most);
}

class Gather : public KernelPlan {
 public:
  Gather(const Arguments& a, const Kernel& kernel, const Taking& t)
      : KernelPlan(kernel.name, a.pool),
        move_(move_box(*find_isa(kernel.isa))),
        look_up_(look_up_on(*find_isa(kernel.isa))),
        t_(t),
        x_(a.call.in[static_cast<std::size_t>(t.x)]),
        leaves_caches_(leaves_caches(volume(a.call.out[0].shape))),
        is_far_(volume(x_.shape) > kNear) {
    t_.loops.join();
    copies_rows(t_.loops) ? t_.loops.cut_rows(kBoxElements) : t_.loops.cut(kBoxElements);
    if (t_.is_flat && t_.step != 1 && volume(x_.shape) <= t_.loops.volume()) copy_first();
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    const i32* x = in[t_.x];
    if (copy_.volume() > 1) {
      auto* const room = static_cast<i32*>(scratch);
      pool_->run(copy_.boxes(), kElementNs * static_cast<double>(copy_.box_volume()),
          [&](i64 begin, i64 end) { move_boxes(copy_, begin, end, room, x, move_, false); });
      x = room;
    }
    const Loops& l = t_.loops;
    const bool is_table = t_.is_flat && t_.step == 1;
    pool_->run(
        l.boxes(), kElementNs * static_cast<double>(l.box_volume()), [&](i64 begin, i64 end) {
          l.visit(begin, end, [&](const LoopBox& b) {
            is_table ? look_up_box(b, out[0], x, in[t_.index])
                     : take_box(b, out[0], x, in[t_.index]);
          });
        });
  }
  uint64_t scratch_bytes() const override {
    return copy_.volume() > 1 ? static_cast<uint64_t>(copy_.volume()) * sizeof(i32) : 0;
  }
  // An index is read once, before the element that it chooses is written.
  bool works_in_place(std::size_t input) const override {
    return static_cast<int>(input) == t_.index && t_.loops.moves_as_output(2);
  }

 private:
  static constexpr i64 kNear = i64{1} << 15;  ///< of an X so small that no row is prefetched
  static constexpr i64 kAhead = 1024;         ///< elements that are prefetched
  static constexpr i64 kShort = 32, kWorthStreaming = 256;  ///< elements of a row

  /// Whether each index chooses a row that lies as a row of Y does: a row is best copied whole.
  static bool copies_rows(const Loops& l) {
    if (l.rank() == 0) return false;
    const PerTensor& inner = l[l.rank() - 1].stride;
    return inner[0] == 1 && inner[1] == 1 && inner[2] == 0;
  }

  /// Brings X into row-major order before its elements are taken.
  void copy_first() {
    const Out compact(x_, nullptr);
    for (int d = 0; d < x_.rank(); ++d) copy_.add(x_.dim(d), {compact.stride[d], x_.stride[d]});
    copy_.join();
    copy_.cut(kBoxElements);
    t_.step = 1;
  }

  Table table(const i32* x) const { return {x, static_cast<i32>(t_.last), x_.precision <= 16}; }
  const i32* chosen(const i32* x, i32 index) const {
    const i64 k = clamp(index, 0, t_.last);
    if (t_.step > 0) return x + k * t_.step;
    View row_major = x_;
    row_major.data = x;
    return &row_major.element(k);
  }

  /// Looks up the indices of a box, in a buffer unless it is compact in both Y and the indices.
  void look_up_box(const LoopBox& b, i32* y, const i32* x, const i32* index) const {
    const Loops& l = t_.loops;
    y += b.offset[0];
    index += b.offset[2];
    std::array<i64, kLoopAxesMax> compact{};
    i64 n = 1;
    for (int d = l.rank() - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      compact[k] = std::exchange(n, n * b.extent[k]);
    }
    if (l.is_compact(b, 0) && l.is_compact(b, 2))
      return look_up_(y, index, n, table(x), leaves_caches_);
    Move in{l.rank(), b.extent, compact, {}}, out{l.rank(), b.extent, {}, compact};
    for (int d = 0; d < l.rank(); ++d) {
      in.from[static_cast<std::size_t>(d)] = l[d].stride[2];
      out.to[static_cast<std::size_t>(d)] = l[d].stride[0];
    }
    alignas(64) i32 buffer[kBoxElements];
    move_(in, buffer, index, false);
    look_up_(buffer, buffer, n, table(x), false);
    move_(out, y, buffer, leaves_caches_);
  }

  /// Two axes of a box: `n` elements in each of `rows` rows.
  struct Plane {
    i64 rows = 1, n = 1;
    PerTensor row{}, element{};  ///< strides
  };

  /// Fills a box whose elements, or rows, the indices choose along an axis.
  void take_box(const LoopBox& b, i32* y, const i32* x, const i32* index) const {
    const Loops& l = t_.loops;
    const auto extent = [&](int d) { return b.extent[static_cast<std::size_t>(d)]; };
    Plane p;
    if (const int d = l.rank() - 1; d >= 0)
      std::tie(p.n, p.element) = std::pair(extent(d), l[d].stride);
    if (const int d = l.rank() - 2; d >= 0)
      std::tie(p.rows, p.row) = std::pair(extent(d), l[d].stride);
    const bool is_rows = !t_.is_flat && p.element[2] == 0;
    l.planes(b, [&](const PerTensor& at) {
      is_rows ? take_rows(p, y + at[0], x + at[1], index + at[2])
              : take_elements(p, y + at[0], x + at[1], index + at[2]);
    });
  }

  void take_elements(const Plane& p, i32* y, const i32* x, const i32* index) const {
    const bool is_plain = p.element[0] == 1 && p.element[2] == 1 && t_.step == 1;
    const bool streams = leaves_caches_ && p.n >= kWorthStreaming;
    for (i64 r = 0; r < p.rows; ++r, y += p.row[0], x += p.row[1], index += p.row[2])
      if (is_plain)
        look_up_(y, index, p.n, table(x), streams);
      else
        for (i64 i = 0; i < p.n; ++i) y[i * p.element[0]] = *chosen(x, index[i * p.element[2]]);
  }

  void take_rows(const Plane& p, i32* y, const i32* x, const i32* index) const {
    const bool copies = p.element[0] == 1 && p.element[1] == 1;
    const bool streams = leaves_caches_ && p.n >= kWorthStreaming;
    const i64 n = p.n, ahead = copies && is_far_ ? ceil_div(kAhead, n) : p.rows;
    const i64 last = t_.last, step = t_.step;
    const auto each_row = [&](const auto& copy) {
      const auto from = [&](i64 r) {
        return x + clamp(index[r * p.row[2]], 0, last) * step + r * p.row[1];
      };
      for (i64 r = 0; r < p.rows; ++r) {
        if (r + ahead < p.rows) prefetch(from(r + ahead), n);
        copy(y + r * p.row[0], from(r));
      }
    };
    if (copies && !streams)
      return each_row([n](i32* to, const i32* chosen) { copy_row(to, chosen, n); });
    const Move m{1, {n}, {p.element[0]}, {p.element[1]}};
    each_row([&](i32* to, const i32* chosen) { move_(m, to, chosen, streams); });
  }

  static void prefetch(const i32* from, i64 n) {
    for (i64 i = 0; i < n; i += 16) __builtin_prefetch(from + i);
  }
  static void copy_row(i32* to, const i32* from, i64 n) {
    if (n >= kShort) {
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(i32));
    } else if (n >= 4) {
      for (i64 i = 0; i + 4 < n; i += 4) std::memcpy(to + i, from + i, sizeof(Four));
      std::memcpy(to + n - 4, from + n - 4, sizeof(Four));
    } else {
      for (i64 i = 0; i < n; ++i) to[i] = from[i];
    }
  }

  MoveBox move_;
  LookUp look_up_;
  Taking t_;
  View x_;
  bool leaves_caches_, is_far_;
  Loops copy_{2};  ///< X in row-major order; no axes: X itself serves
};

std::unique_ptr<Plan> plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<Gather>(a, kernel, taking_of(a.call));
}

}  // namespace

std::vector<Kernel> gather_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<Take>(all, plan);
  add_target_kernels<CvmLut>(all, plan);
  return all;
}

}  // namespace lockstep::cpu
#endif
