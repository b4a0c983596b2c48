/// @file
/// sum and max along axes. The loops follow the memory of the input, which is larger than the
/// output; a block of outputs accumulates in the first cache. Input that no vector can read where
/// it lies is first brought into tiles.
#include "backends/cpu/reduce.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/nests.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kOutputs = i64{1} << 12;     // of a block: a third of the first cache
constexpr i64 kRowLeast = i64{1} << 10;    // a page, so that rows are read in their order
constexpr i64 kTile = i64{1} << 13;        // elements of a tile
constexpr i64 kTileOutputs = i64{1} << 9;  // outputs that leave a tile several rows to combine
constexpr i64 kTileRow = i64{1} << 8;      // elements of a row of a tile
constexpr i64 kItem = i64{1} << 16;        // elements of an item of parallel work
constexpr i64 kShort = 4;                  // an axis that fills no vector
constexpr i64 kLong = 16;                  // one that does
constexpr i64 kGroup = 8;                  // rows that are combined at a time
constexpr i64 kItems = 16;                 // items that keep the threads busy
constexpr i64 kLine = 16;                  // elements of a cache line
constexpr double kElementNs = 0.1;

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

class Reduction : public KernelPlan {
 public:
  Reduction(const Arguments& a, const Kernel& kernel, const Reducer& op, const Loops& loops);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  uint64_t scratch_bytes() const override {
    return parts_ == 1 ? 0 : static_cast<uint64_t>(parts_ * items_ * pitch_) * sizeof(i32);
  }

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

  int row_axis() const;
  void accumulate(i32* acc, const i32* x, const Box& b) const;
  void accumulate_tiles(i32* acc, const i32* x, const Box& b) const;
  void store(i32* y, const i32* acc, const Box& b) const;

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
    : KernelPlan(kernel.name, a.pool),
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
    for (int d = last; d >= 0 && axis_[last].extent < kLong; --d)
      if (axis_[d].extent > axis_[last].extent) last = d;
  // Axes that are combined at once come together: kept axes in rows, or reduced axes.
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
  // First whole cache lines of the output, then the last axes of memory and of tiles, then others.
  for (int d = rank_ - 1; d >= 0; --d)
    if (axis_[y_order_[d]].is_kept()) {
      grow(y_order_[d], &pitch_, min(most, kLine));
      break;
    }
  // Rows that end within a page go on along the next axes.
  i64 wanted = pitch_, run = 1;
  for (int d = inner; !is_tiled_ && d >= 0 && run < kRowLeast; run *= axis_[d--].extent)
    if (axis_[d].is_kept())
      wanted *= ceil_div(min(axis_[d].extent, ceil_div(kRowLeast, run)), axis_[d].block);
  most = max(most, min(wanted, kOutputs));
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

// Narrows a box to one of its blocks along the kept or the reduced axes.
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

// The strides of a tile, or of the accumulators, which have the kept axes only.
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

// The move along the axes that the target has, in the given order.
Move Reduction::move_of(
    const int* axes, const Box& b, const Strides& to, const Strides& from) const {
  Move m;
  for (int k = 0; k < rank_; ++k) {
    const int d = axes[k];
    if (to.of[d] != 0) m.add(b.extent[d], to.of[d], from.of[d]);
  }
  return m;
}

// The axis across which rows of the innermost axis are combined, or -1. Where the innermost axis is
// kept, it is a reduced one if there is any.
int Reduction::row_axis() const {
  if (axis_[rank_ - 1].is_kept())
    for (int d = rank_ - 2; d >= 0; --d)
      if (!axis_[d].is_kept()) return d;
  return rank_ - 2;
}

// Accumulates along three axes at once: the innermost, one of which several rows are combined at a
// time, and one more.
void Reduction::accumulate(i32* acc, const i32* x, const Box& b) const {
  const Strides to = strides(b, true);
  const int inner = rank_ - 1, row = row_axis();
  const bool kept = axis_[inner].is_kept();
  Rows r{b.extent[inner], 1, 0, 0, 1, 0, 0};
  if (row >= 0) r = {r.n, b.extent[row], axis_[row].x, to.of[row], 1, 0, 0};
  int outer = inner - 1;
  while (outer == row && outer >= 0) --outer;
  if (outer >= 0) {
    r.count = b.extent[outer];
    r.x_outer = axis_[outer].x;
    r.acc_outer = to.of[outer];
  }
  // Rows that are far apart come in groups, so that memory is read nearly in its order.
  const i64 group = row >= 0 && row < inner - 1 ? min(kGroup, r.rows) : r.rows;
  i64 position[kMaxRank] = {};
  for (;;) {
    if (row >= 0) r.rows = min(group, b.extent[row] - position[row]);
    (kept ? op_.kept : op_.reduced)(r, acc, x);
    int d = inner - 1;
    for (; d >= 0; --d) {
      if (d == outer) continue;
      const i64 step = d == row ? group : 1;
      acc += to.of[d] * step;
      x += axis_[d].x * step;
      position[d] += step;
      if (position[d] < b.extent[d]) break;
      acc -= to.of[d] * position[d];
      x -= axis_[d].x * position[d];
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
      op_.kept({outputs, n, outputs, 0, 1, 0, 0}, acc, tile);
    else
      op_.reduced({n, outputs, n, 1, 1, 0, 0}, acc, tile);
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
      op_.kept({volume(b, true), parts_ - 1, pitch_, 0, 1, 0, 0}, first, first + pitch_);
      store(out[0], first, b);
    }
  });
}

template <Reducer (*reducer)(const Isa&)>
std::unique_ptr<Plan> reduction_plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<Reduction>(
      a, kernel, reducer(*find_isa(kernel.isa)), reduction_of(a.call));
}

}  // namespace

std::vector<Kernel> reduce_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<Max>(all, reduction_plan<largest>);
  add_target_kernels<Sum>(all, reduction_plan<adding>);
  return all;
}

}  // namespace lockstep::cpu
