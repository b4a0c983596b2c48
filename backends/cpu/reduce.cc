/// @file
/// sum and max along axes. The loops follow the memory of the input, which is larger than the
/// output; a block of outputs accumulates in the first cache. Input that no vector can read where
/// it lies is first brought into tiles.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/targets.h"
#include "spec/ops/max.h"
#include "spec/ops/sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

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

// Accumulates kRows rows of n elements into one.
template <int kRows, class Op, class D>
void join_rows(Op op, D d, i32* acc, const i32* x, i64 stride, i64 n) {
  const auto width = static_cast<i64>(hn::Lanes(d));
  i64 i = 0;
  for (; i + width <= n; i += width) {
    auto v = hn::LoadU(d, acc + i);
    for (int k = 0; k < kRows; ++k) v = op(v, hn::LoadU(d, x + k * stride + i));
    hn::StoreU(v, d, acc + i);
  }
  if constexpr (is_wide(D())) {
    if (i < n) join_rows<kRows>(op, hn::Half<D>(), acc + i, x + i, stride, n - i);
  } else {
    for (; i < n; ++i)
      for (int k = 0; k < kRows; ++k) acc[i] = op(acc[i], x[k * stride + i]);
  }
}

template <class Op>
void accumulate_kept(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  const Op op;
  i64 k = 0;
  const auto join = [&]<int kRows>() {
    for (; k + kRows <= rows; k += kRows)
      join_rows<kRows>(op, kAll, acc + k * acc_step, x + k * stride, stride, n);
  };
  if (acc_step == 0) {
    join.template operator()<8>();
    join.template operator()<4>();
    join.template operator()<2>();
  }
  join.template operator()<1>();
}

// Combines n elements.
template <class Op, class D> i32 folded(Op op, D d, const i32* x, i64 n) {
  const auto width = static_cast<i64>(hn::Lanes(d));
  if constexpr (is_wide(D())) {
    if (n < width) return folded(op, hn::Half<D>(), x, n);
  } else if (n < width) {
    i32 result = Op::kIdentity;
    for (i64 i = 0; i < n; ++i) result = op(result, x[i]);
    return result;
  }
  const auto identity = hn::Set(d, Op::kIdentity);
  auto a = identity, b = identity, c = identity, e = identity;
  i64 i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {
    a = op(a, hn::LoadU(d, x + i));
    b = op(b, hn::LoadU(d, x + i + width));
    c = op(c, hn::LoadU(d, x + i + 2 * width));
    e = op(e, hn::LoadU(d, x + i + 3 * width));
  }
  for (; i + width <= n; i += width) a = op(a, hn::LoadU(d, x + i));
  if (i < n) {
    // The last vector overlaps what is done.
    const auto done = hn::Lt(hn::Iota(d, 0), hn::Set(d, static_cast<i32>(width - (n - i))));
    b = op(b, hn::IfThenElse(done, identity, hn::LoadU(d, x + n - width)));
  }
  return op.fold(d, op(op(a, b), op(c, e)));
}

template <class Op>
void accumulate_reduced(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  const Op op;
  for (i64 k = 0; k < rows; ++k)
    acc[k * acc_step] = op(acc[k * acc_step], folded(op, kAll, x + k * stride, n));
}

void sum_kept(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  accumulate_kept<Adding>(acc, acc_step, x, rows, stride, n);
}
void sum_reduced(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  accumulate_reduced<Adding>(acc, acc_step, x, rows, stride, n);
}
void max_kept(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  accumulate_kept<Largest>(acc, acc_step, x, rows, stride, n);
}
void max_reduced(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n) {
  accumulate_reduced<Largest>(acc, acc_step, x, rows, stride, n);
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

constexpr i64 kOutputs = i64{1} << 12;     // of a block: a third of the first cache
constexpr i64 kRowLeast = i64{1} << 10;    // a page, so that rows are read in their order
constexpr i64 kTile = i64{1} << 13;        // elements of a tile
constexpr i64 kTileOutputs = i64{1} << 9;  // that leave a tile several rows to combine
constexpr i64 kTileRow = i64{1} << 8;      // elements of a row of a tile
constexpr i64 kItem = i64{1} << 16;        // elements of an item of parallel work
constexpr i64 kShort = 16;                 // an axis that fills no vector
constexpr i64 kItems = 16;                 // that keep the threads busy
constexpr i64 kLine = 16;                  // elements of a cache line
constexpr double kElementNs = 0.1;

/// Accumulates rows of n elements of the input. `kept`: each row element by element, row k from
/// acc[k * acc_step] on; `reduced`: all elements of row k in acc[k * acc_step].
using Accumulate = void(i32* acc, i64 acc_step, const i32* x, i64 rows, i64 stride, i64 n);

struct Reducer {
  i32 identity;
  Accumulate *kept, *reduced;
};

template <class Op> Reducer reducer_of(const Isa& most) {
  static constexpr Target<Accumulate> kSumKept[] = {LOCKSTEP_TARGETS(sum_kept)},
                                      kSumReduced[] = {LOCKSTEP_TARGETS(sum_reduced)},
                                      kMaxKept[] = {LOCKSTEP_TARGETS(max_kept)},
                                      kMaxReduced[] = {LOCKSTEP_TARGETS(max_reduced)};
  if constexpr (std::is_same_v<Op, Sum>)
    return {0, best_target(kSumKept, most), best_target(kSumReduced, most)};
  else
    return {std::numeric_limits<i32>::min(), best_target(kMaxKept, most),
        best_target(kMaxReduced, most)};
}

/// An axis of the input.
struct Axis {
  i64 extent, x, y;  ///< strides in elements; y is 0 where the axis is reduced
  i64 block;         ///< positions done at a time
  bool is_kept() const { return y != 0; }
};

/// A part of the nest: its first position and extents.
struct Box {
  i64 first[kMaxRank], extent[kMaxRank];
};

/// Strides by axis.
struct Strides {
  i64 of[kMaxRank]{};
};

class Reduction : public Plan {
 public:
  Reduction(const Arguments& a, const Kernel& kernel, const Reducer& op, const Loops& loops);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  uint64_t scratch_bytes() const override {
    return parts_ == 1 ? 0 : static_cast<uint64_t>(parts_ * items_ * pitch_) * sizeof(i32);
  }
  const char* path() const override { return name_.c_str(); }

 private:
  void choose_order();
  void choose_blocks();
  void grow(int d, i64* volume, i64 most);
  void split(i64 volume);

  Box item(i64 number) const;
  i64 blocks(const Box& b, bool kept) const;
  void narrow(Box& b, bool kept, i64 number) const;
  i64 volume(const Box& b, bool kept) const;
  Strides strides(const Box& b, bool kept_only) const;
  Move move_of(const int* axes, const Box& b, const Strides& to, const Strides& from) const;

  void accumulate(i32* acc, const i32* x, const Box& b) const;
  void accumulate_tiles(i32* acc, const i32* x, const Box& b) const;
  void store(i32* y, const i32* acc, const Box& b) const;

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  MoveBox move_;
  Reducer op_;
  bool is_large_;
  int rank_;
  Axis axis_[kMaxRank]{};    // by the input's memory, the innermost last
  int order_[kMaxRank]{};    // of tiles and of blocks of outputs, the innermost last
  int y_order_[kMaxRank]{};  // by the output's memory
  bool is_tiled_ = false;
  i64 pitch_ = 1;              // outputs of a block
  i64 items_ = 1, parts_ = 1;  // blocks of outputs, and parts of the input that each reads
  int split_ = 0;              // the axis that parts divide
  double item_ns_;
};

Reduction::Reduction(
    const Arguments& a, const Kernel& kernel, const Reducer& op, const Loops& loops)
    : name_(kernel.name),
      pool_(a.pool),
      move_(move_box(*find_isa(kernel.isa))),
      op_(op),
      is_large_(leaves_caches(lockstep::volume(a.call.out[0].shape))),
      rank_(std::max(1, loops.rank())) {
  axis_[0] = {1, 1, 0, 1};  // the only axis of a single element
  for (int d = 0; d < loops.rank(); ++d)
    axis_[d] = {loops[d].extent, loops[d].stride[0], loops[d].stride[1], 1};
  choose_order();
  choose_blocks();
  for (int d = 0; d < rank_; ++d)
    if (axis_[d].is_kept()) items_ *= ceil_div(axis_[d].extent, axis_[d].block);
  if (pool_->threads() > 1) split(loops.volume());
  item_ns_ =
      kElementNs * static_cast<double>(loops.volume()) / static_cast<double>(items_ * parts_);
}

// Tiles end in an axis that fills vectors: the innermost that is not short, else the longest.
void Reduction::choose_order() {
  const Axis& inner = axis_[rank_ - 1];
  is_tiled_ = inner.x != 1 || (inner.extent < kShort && rank_ > 1);
  int last = rank_ - 1;
  if (is_tiled_)
    for (int d = last; d >= 0 && axis_[last].extent < kShort; --d)
      if (axis_[d].extent > axis_[last].extent) last = d;
  // What is combined at once comes together: kept axes in rows, or reduced axes.
  int* to = order_;
  for (const bool kept : {!axis_[last].is_kept(), axis_[last].is_kept()})
    for (int d = 0; d < rank_; ++d)
      if (d != last && axis_[d].is_kept() == kept) *to++ = d;
  *to = last;
  for (int d = 0; d < rank_; ++d) y_order_[d] = d;
  std::stable_sort(y_order_, y_order_ + rank_,
      [this](int d, int e) { return magnitude(axis_[d].y) > magnitude(axis_[e].y); });
}

// Makes blocks longer along an axis, of equal length and of whole cache lines where possible, until
// they hold `most` of what `volume` counts.
void Reduction::grow(int d, i64* volume, i64 most) {
  Axis& a = axis_[d];
  const i64 others = *volume / a.block, room = max(most / others, a.block);
  const i64 even = ceil_div(a.extent, ceil_div(a.extent, room));
  a.block = even == a.extent ? even : min(ceil_div(even, kLine) * kLine, room);
  *volume = others * a.block;
}

void Reduction::choose_blocks() {
  const int inner = rank_ - 1, last = order_[inner];
  i64 reduced = 1;
  for (int d = 0; d < rank_; ++d)
    if (!axis_[d].is_kept()) reduced *= axis_[d].extent;
  i64 most = clamp(kItem / reduced, axis_[last].is_kept() ? kRowLeast : 1, kOutputs);
  if (is_tiled_)
    most = axis_[last].is_kept() ? kTileOutputs : kTile / min(axis_[last].extent, kTileRow);
  // Whole cache lines of the output, then the first axes of tiles, then what follows in memory.
  for (int d = rank_ - 1; d >= 0; --d)
    if (axis_[y_order_[d]].is_kept()) {
      grow(y_order_[d], &pitch_, min(most, kLine));
      break;
    }
  for (const bool kept : {true, false}) {
    i64 tile = kept ? pitch_ : 1;
    const i64 room = kept ? most : is_tiled_ ? kTile / pitch_ : reduced;
    for (const int d : {inner, last})
      if (axis_[d].is_kept() == kept) grow(d, &tile, room);
    for (int d = inner; d >= 0; --d)
      if (axis_[d].is_kept() == kept) grow(d, &tile, room);
    if (kept) pitch_ = tile;
  }
}

// Divides the longest reduced axis, where there are too few blocks of outputs for all threads.
void Reduction::split(i64 volume) {
  split_ = -1;
  for (int d = 0; d < rank_; ++d)
    if (!axis_[d].is_kept() && (split_ < 0 || axis_[d].extent > axis_[split_].extent)) split_ = d;
  if (split_ >= 0) parts_ = clamp(min(kItems / items_, volume / kItem), 1, axis_[split_].extent);
}

// The part of the nest that an item of work reads.
Box Reduction::item(i64 number) const {
  Box b{};
  for (int d = 0; d < rank_; ++d) b.extent[d] = axis_[d].extent;
  narrow(b, true, number / parts_);
  if (parts_ > 1) {
    const i64 part = number % parts_, extent = b.extent[split_];
    b.first[split_] = extent * part / parts_;
    b.extent[split_] = extent * (part + 1) / parts_ - b.first[split_];
  }
  return b;
}

i64 Reduction::volume(const Box& b, bool kept) const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d)
    if (axis_[d].is_kept() == kept) n *= b.extent[d];
  return n;
}

i64 Reduction::blocks(const Box& b, bool kept) const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d)
    if (axis_[d].is_kept() == kept) n *= ceil_div(b.extent[d], axis_[d].block);
  return n;
}

// Leaves one block along the kept or the reduced axes.
void Reduction::narrow(Box& b, bool kept, i64 number) const {
  for (int d = rank_ - 1; d >= 0; --d) {
    if (axis_[d].is_kept() != kept) continue;
    const i64 block = axis_[d].block, blocks = ceil_div(b.extent[d], block);
    const i64 first = number % blocks * block;
    number /= blocks;
    b.first[d] += first;
    b.extent[d] = min(block, b.extent[d] - first);
  }
}

// Of a tile, or of the accumulators: those hold the kept axes only.
Strides Reduction::strides(const Box& b, bool kept_only) const {
  Strides s;
  i64 step = 1;
  for (int k = rank_ - 1; k >= 0; --k) {
    const int d = order_[k];
    if (kept_only && !axis_[d].is_kept()) continue;
    s.of[d] = step;
    step *= b.extent[d];
  }
  return s;
}

// Along the axes that the target has, in the given order; those that continue each other are one.
Move Reduction::move_of(
    const int* axes, const Box& b, const Strides& to, const Strides& from) const {
  Move m;
  for (int k = 0; k < rank_; ++k) {
    const int d = axes[k];
    if (b.extent[d] == 1 || to.of[d] == 0) continue;
    const auto n = static_cast<std::size_t>(m.rank);
    const bool continues =
        n > 0 && m.to[n - 1] == to.of[d] * b.extent[d] && m.from[n - 1] == from.of[d] * b.extent[d];
    const std::size_t at = continues ? n - 1 : n;
    m.extent[at] = continues ? m.extent[at] * b.extent[d] : b.extent[d];
    m.to[at] = to.of[d];
    m.from[at] = from.of[d];
    m.rank = static_cast<int>(at) + 1;
  }
  return m;
}

// The two innermost axes at once, the others one position after the other.
void Reduction::accumulate(i32* acc, const i32* x, const Box& b) const {
  const Strides to = strides(b, true);
  const int inner = rank_ - 1, row = rank_ - 2;
  Accumulate* const rows = axis_[inner].is_kept() ? op_.kept : op_.reduced;
  i64 position[kMaxRank] = {};
  for (;;) {
    if (row < 0)
      rows(acc, 0, x, 1, 0, b.extent[inner]);
    else
      rows(acc, to.of[row], x, b.extent[row], axis_[row].x, b.extent[inner]);
    int d = row - 1;
    for (; d >= 0; --d) {
      acc += to.of[d];
      x += axis_[d].x;
      if (++position[d] < b.extent[d]) break;
      acc -= to.of[d] * b.extent[d];
      x -= axis_[d].x * b.extent[d];
      position[d] = 0;
    }
    if (d < 0) return;
  }
}

void Reduction::accumulate_tiles(i32* acc, const i32* x, const Box& b) const {
  alignas(64) i32 tile[kTile];
  Strides from;
  for (int d = 0; d < rank_; ++d) from.of[d] = axis_[d].x;
  const i64 tiles = blocks(b, false), outputs = volume(b, true);
  for (i64 t = 0; t < tiles; ++t) {
    Box part = b;
    narrow(part, false, t);
    i64 offset = 0;
    for (int d = 0; d < rank_; ++d) offset += (part.first[d] - b.first[d]) * axis_[d].x;
    move_(move_of(order_, part, strides(part, false), from), tile, x + offset, false);
    const i64 n = volume(part, false);
    if (axis_[order_[rank_ - 1]].is_kept())
      op_.kept(acc, 0, tile, n, outputs, outputs);
    else
      op_.reduced(acc, 1, tile, outputs, n, n);
  }
}

void Reduction::store(i32* y, const i32* acc, const Box& b) const {
  Strides to;
  for (int d = 0; d < rank_; ++d) {
    to.of[d] = axis_[d].y;
    y += b.first[d] * axis_[d].y;
  }
  move_(move_of(y_order_, b, to, strides(b, true)), y, acc, is_large_);
}

void Reduction::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  auto* partial = static_cast<i32*>(scratch);
  pool_->run(items_ * parts_, item_ns_, [&](i64 begin, i64 end) {
    alignas(64) i32 acc[kOutputs];
    for (i64 i = begin; i < end; ++i) {
      const Box b = item(i);
      const i64 outputs = volume(b, true);
      const i32* x = in[0];
      for (int d = 0; d < rank_; ++d) x += b.first[d] * axis_[d].x;
      std::fill_n(acc, outputs, op_.identity);
      if (is_tiled_)
        accumulate_tiles(acc, x, b);
      else
        accumulate(acc, x, b);
      if (parts_ == 1)
        store(out[0], acc, b);
      else
        std::copy_n(acc, outputs, partial + i * pitch_);
    }
  });
  if (parts_ == 1) return;
  const double ns = kElementNs * static_cast<double>(parts_ * pitch_);
  pool_->run(items_, ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const Box b = item(i * parts_);
      i32* first = partial + i * parts_ * pitch_;
      op_.kept(first, 0, first + pitch_, parts_ - 1, pitch_, volume(b, true));
      store(out[0], first, b);
    }
  });
}

template <class Op> std::unique_ptr<Plan> reduction_plan(const Arguments& a, const Kernel& kernel) {
  const auto attrs = from_attributes<Op>(a.call.attributes());
  const View& x = a.call.in[0];
  const Out& y = a.call.out[0];
  const unsigned reduced = Op::reduced_axes(attrs, x);
  Loops loops(2);  // in the order of the input, which is larger
  for (int d = 0, e = 0; d < x.rank(); ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    loops.add(x.dim(d), {x.stride[d], is_reduced ? 0 : y.stride[e]});
    e += !is_reduced || attrs.keepdims ? 1 : 0;
  }
  loops.join();
  return std::make_unique<Reduction>(a, kernel, reducer_of<Op>(*find_isa(kernel.isa)), loops);
}

}  // namespace

std::vector<Kernel> reduce_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<Max>(all, reduction_plan<Max>);
  add_target_kernels<Sum>(all, reduction_plan<Sum>);
  return all;
}

}  // namespace lockstep::cpu
#endif
