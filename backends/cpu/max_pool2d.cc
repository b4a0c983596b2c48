/// @file
/// max_pool2d, along rows and then along columns of a tile that stays in the first caches. Lanes
/// are columns, or images or channels where those are neighbours in memory. Padding is the smallest
/// integer: it never wins, because every window reaches into the image. A large window is the
/// largest of windows of half its length, so that its cost grows with the logarithm only.
#include "backends/cpu/max_pool2d.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/move.h"
#include "spec/ops/max_pool2d.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kTile = i64{1} << 12;       // elements of a tile of row maxima
constexpr i64 kStage = i64{1} << 13;      // elements of a staged part of the image
constexpr i64 kSlotMost = i64{1} << 21;   // elements of the scratch memory of an item of work
constexpr i64 kSlotsMost = i64{1} << 24;  // and of all of them
constexpr i64 kSmall = 4;                 // lines and columns of a window that is compared at once
constexpr i64 kLeastColumns = 16;         // of a tile
constexpr i64 kLanesLeast = 8;            // channels that are worth being lanes
constexpr i64 kLanesMost = 128;
constexpr i64 kSlots = 4;  // per thread
constexpr double kElementNs = 0.1;
constexpr i32 kOutside = std::numeric_limits<i32>::min();

/// Positions begin .. end - 1.
struct Part {
  i64 begin, end;
  i64 size() const { return end - begin; }
};

/// A spatial axis.
struct Spatial {
  i64 extent, outputs, window, stride, padding;
  /// Positions of the image and its padding that n outputs read.
  i64 cells(i64 n) const { return (n - 1) * stride + window; }
  i64 start(i64 output) const { return output * stride - padding; }
  /// Which of n positions from an output's first on lie in the image.
  Part inside(i64 output, i64 n) const {
    return {max(0, -start(output)), min(n, extent - start(output))};
  }
};

/// How a window is computed from `taps` elements `tap` apart, after it was widened to `length`.
struct Taps {
  i64 taps, tap, length;
};

/// One axis of the outputs, cut into blocks.
struct Axis {
  i64 extent = 1, x = 0, y = 0;  ///< strides in elements
  i64 block = 1;
  i64 blocks() const { return ceil_div(extent, block); }
};

/// How far apart the parts of a block of outputs lie.
struct Steps {
  i64 near, row, column;
};

enum { kFar, kNear, kRow, kColumn, kLane, kAxes };

/// A block of outputs.
struct Block {
  i64 first[kAxes], count[kAxes];
};

class MaxPooling : public KernelPlan {
 public:
  MaxPooling(const Arguments& a, const Kernel& kernel, const MaxPool2dAttrs& attrs);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(slots_ * slot_elements()) * sizeof(i32);
  }
  bool has_room() const { return slot_elements() <= min(kSlotMost, most_); }

 private:
  void choose_axes(const View& x, const Out& y);
  void choose_taps();
  void choose_blocks();
  Block block(i64 number) const;
  Part cells_inside(const Block& b) const {
    return columns_.inside(b.first[kColumn], columns_.cells(b.count[kColumn]));
  }

  /// Whether lanes are planes that are neighbours in memory; otherwise they are columns. The last
  /// block may have one such plane alone.
  bool has_lanes() const { return axis_[kLane].extent > 1; }
  i64 pitch(i64 columns) const { return ceil_div(columns_.cells(columns), step_) * step_; }
  i64 row_elements() const { return pitch(axis_[kColumn].block) * axis_[kLane].block; }
  i64 tile_elements() const { return axis_[kNear].block * axis_[kRow].block * row_elements(); }
  i64 stage_elements() const {
    return axis_[kNear].block * rows_.cells(axis_[kRow].block) * row_elements();
  }
  i64 slot_elements() const {
    return 2 * (tile_elements() + kPoolSlack) + (is_staged_ ? stage_elements() + kPoolSlack : 0);
  }

  void pool(i32* y, const i32* x, i32* room, const Block& b, bool is_first) const;
  template <class F> void for_each_group(const i32* x, const Block& b, F f) const;
  void pool_small(i32* y, const Steps& to, const i32* x, const Block& b) const;
  void pool_rows(i32* tile, const i32* x, const Block& b) const;
  void stage(i32* to, const i32* x, const Block& b) const;
  void pool_stage(i32* tile, i32* staged, const Block& b) const;
  void pool_columns(i32* to, i32* tile, const Block& b) const;
  void widen(i32* at, i64 n, i64 step, const Taps& taps) const;
  void store(i32* y, const i32* from, const Block& b) const;

  MoveBox move_;
  PoolLoops loops_;
  bool is_large_;
  double elements_;
  i64 most_;  // elements of scratch memory
  Spatial rows_, columns_;
  Taps row_taps_{}, column_taps_{};
  Axis axis_[kAxes];
  int y_order_[kAxes] = {kFar, kNear, kRow, kColumn, kLane};  // by the output's memory
  bool is_small_ = false;    // windows whose elements are all compared at once
  bool must_stage_ = false;  // no vector can read the image where it lies
  bool is_staged_ = false;   // whether a block is staged, also for large windows
  i64 step_ = 1;             // cells between neighbouring outputs of a row
  i64 blocks_ = 1, slots_ = 1;
};

MaxPooling::MaxPooling(const Arguments& a, const Kernel& kernel, const MaxPool2dAttrs& attrs)
    : KernelPlan(kernel.name, a.pool),
      move_(move_box(*find_isa(kernel.isa))),
      loops_(pool_loops(*find_isa(kernel.isa))),
      is_large_(leaves_caches(volume(a.call.out[0].shape))),
      elements_(static_cast<double>(volume(a.call.in[0].shape))),
      most_(scratch_most(a.call) / static_cast<i64>(sizeof(i32))) {
  const View& x = a.call.in[0];
  const Out& y = a.call.out[0];
  const auto spatial = [&](int d) {
    return Spatial{
        x.dim(2 + d), y.dim(2 + d), attrs.pool_size[d], attrs.strides[d], MaxPool2d::pad(attrs, d)};
  };
  rows_ = spatial(0);
  columns_ = spatial(1);
  choose_axes(x, y);
  choose_taps();
  choose_blocks();
  if (row_taps_.length > 1 && !has_room()) {
    row_taps_ = {rows_.window, 1, 1};
    choose_blocks();
  }
  for (const Axis& axis : axis_) blocks_ *= axis.blocks();
  if (pool_->threads() > 1)
    slots_ =
        clamp(min(kSlotsMost, most_) / slot_elements(), 1, min(blocks_, kSlots * pool_->threads()));
}

// Sorts the axes into far and near planes, rows, columns and lanes.
void MaxPooling::choose_axes(const View& x, const Out& y) {
  const auto axis = [&](int d) { return Axis{y.dim(d), x.stride[d], y.stride[d]}; };
  Axis far = axis(0), near = axis(1);
  axis_[kRow] = axis(2);
  axis_[kColumn] = axis(3);
  const auto is_line = [](const Axis& a, const Spatial& s) { return a.x == 1 && s.extent > 1; };
  if (is_line(axis_[kRow], rows_) && !is_line(axis_[kColumn], columns_)) {
    std::swap(rows_, columns_);
    std::swap(axis_[kRow], axis_[kColumn]);
  }
  if (far.extent == 1 || (near.extent > 1 && magnitude(far.x) < magnitude(near.x)))
    std::swap(far, near);
  if (near.extent == 1) std::swap(far, near);
  const bool is_contiguous = is_line(axis_[kColumn], columns_);
  if (!is_contiguous && near.x == 1 && near.extent >= kLanesLeast) {
    axis_[kLane] = near;
    near = far;
    far = {};
  } else {
    must_stage_ = !is_contiguous && columns_.extent > 1;
  }
  if (far.x == near.x * near.extent && far.y == near.y * near.extent) {
    near.extent *= far.extent;
    far = {};
  }
  axis_[kFar] = far;
  axis_[kNear] = near;
  std::stable_sort(std::begin(y_order_), std::end(y_order_),
      [this](int d, int e) { return magnitude(axis_[d].y) > magnitude(axis_[e].y); });
}

// Windows are widened where that is cheaper than to read every tap: a pass over all cells costs
// about one and a half taps.
void MaxPooling::choose_taps() {
  const auto taps_of = [](const Spatial& s, i64 outputs) {
    i64 length = 1, passes = 0;
    for (; 2 * length <= s.window; length *= 2) ++passes;
    const i64 cells = s.cells(s.outputs);
    if (2 * outputs * s.window <= 3 * passes * cells + 4 * outputs) return Taps{s.window, 1, 1};
    return Taps{s.window == length ? 1 : 2, s.window - length, length};
  };
  row_taps_ = taps_of(rows_, rows_.outputs);
  if (has_lanes()) {
    column_taps_ = taps_of(columns_, columns_.outputs);
  } else {
    // An output is computed at every step of a row, also where the row is padding.
    step_ = columns_.outputs == 1 ? min(columns_.stride, columns_.window) : columns_.stride;
    column_taps_ = taps_of(columns_, columns_.cells(columns_.outputs) / step_);
  }
}

void MaxPooling::choose_blocks() {
  // With a stride of 1, neighbouring windows share most comparisons, which a tile saves, and
  // columns that reach into the padding cost a tile nothing.
  const bool shares = columns_.stride == 1 && columns_.window > 2 && columns_.padding > 0;
  const bool has_step = columns_.stride == 1 || (columns_.stride == 2 && columns_.window >= 2);
  is_small_ = !must_stage_ && max(rows_.window, columns_.window) <= kSmall &&
      (has_lanes() || (has_step && !shares));
  is_staged_ = must_stage_ || row_taps_.length > 1;
  for (Axis& a : axis_) a.block = 1;
  Axis& lanes = axis_[kLane];
  lanes.block = ceil_div(lanes.extent, ceil_div(lanes.extent, kLanesMost));
  const i64 room = is_staged_ ? kStage : kTile;
  // Lets a block grow as long as everything fits the caches, at least to `least` where the scratch
  // memory suffices, in parts of equal length.
  const auto grow = [&](Axis& a, i64 least) {
    const auto fitting = [&](i64 most, const auto& elements) {
      a.block = 1;
      const i64 one = elements();
      a.block = 2;
      return 1 + (most - one) / (elements() - one);
    };
    const i64 cached =
        fitting(room, [&] { return is_staged_ ? stage_elements() : tile_elements(); });
    const i64 most = clamp(fitting(most_, [&] { return slot_elements(); }), 1,
        clamp(cached, min(a.extent, least), a.extent));
    a.block = ceil_div(a.extent, ceil_div(a.extent, most));
  };
  grow(
      axis_[kColumn], max(lanes.extent > 1 ? 1 : kLeastColumns, columns_.window / columns_.stride));
  // Large windows are worth widening for several rows only.
  grow(axis_[kRow], row_taps_.length > 1 ? ceil_div(rows_.window, rows_.stride) : 1);
  grow(axis_[kNear], 1);
}

Block MaxPooling::block(i64 number) const {
  Block b{};
  for (int d = kAxes - 1; d >= 0; --d) {
    const Axis& a = axis_[d];
    b.first[d] = number % a.blocks() * a.block;
    b.count[d] = min(a.block, a.extent - b.first[d]);
    number /= a.blocks();
  }
  return b;
}

void MaxPooling::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  const double ns = kElementNs * elements_ / static_cast<double>(slots_);
  pool_->run(slots_, ns, [&](i64 begin, i64 end) {
    for (i64 s = begin; s < end; ++s) {
      i32* room = static_cast<i32*>(scratch) + s * slot_elements();
      const i64 first = blocks_ * s / slots_;
      for (i64 b = first; b < blocks_ * (s + 1) / slots_; ++b)
        pool(out[0], in[0], room, block(b), b == first);
    }
  });
}

void MaxPooling::pool(i32* y, const i32* x, i32* room, const Block& b, bool is_first) const {
  for (int d : {kFar, kNear, kLane}) {
    x += b.first[d] * axis_[d].x;
    y += b.first[d] * axis_[d].y;
  }
  for (int d : {kRow, kColumn}) y += b.first[d] * axis_[d].y;
  i32 *tile = room, *pooled = room + tile_elements() + kPoolSlack;
  if (is_small_) {
    const i64 lanes = b.count[kLane], row = b.count[kColumn] * lanes;
    if ((has_lanes() ? axis_[kLane].y : axis_[kColumn].y) == 1)
      return pool_small(y, {axis_[kNear].y, axis_[kRow].y, axis_[kColumn].y}, x, b);
    pool_small(pooled, {b.count[kRow] * row, row, lanes}, x, b);
    return store(y, pooled, b);
  }
  if (is_staged_) {
    i32* staged = pooled + tile_elements() + kPoolSlack;
    stage(staged, x, b);
    pool_stage(tile, staged, b);
  } else {
    // The padding of a tile stays from block to block unless something moves or changes it.
    const bool is_lost = is_first || axis_[kColumn].blocks() > 1 || axis_[kLane].blocks() > 1 ||
        column_taps_.length > 1;
    if (is_lost && cells_inside(b).size() < columns_.cells(b.count[kColumn]))
      std::fill_n(tile, tile_elements(), kOutside);
    pool_rows(tile, x, b);
  }
  pool_columns(pooled, tile, b);
  store(y, pooled, b);
}

// Calls f(r, rows, lines, x) for groups of rows of outputs whose windows have equally many lines in
// the image: the first row, how many, how many lines, and the image at the first of these.
template <class F> void MaxPooling::for_each_group(const i32* x, const Block& b, F f) const {
  const auto lines_of = [&](i64 r) { return rows_.inside(b.first[kRow] + r, rows_.window); };
  for (i64 r = 0, rows = 1; r < b.count[kRow]; r += rows) {
    const Part lines = lines_of(r);
    for (rows = 1; r + rows < b.count[kRow]; ++rows)
      if (lines.size() < rows_.window || lines_of(r + rows).size() < rows_.window) break;
    f(r, rows, lines.size(), x + (rows_.start(b.first[kRow] + r) + lines.begin) * axis_[kRow].x);
  }
}

// Computes small windows at once, into rows and cells as far apart as `to` says. Windows that reach
// out of the image are computed column by column.
void MaxPooling::pool_small(i32* y, const Steps& to, const i32* x, const Block& b) const {
  const i64 first = b.first[kColumn], end = first + b.count[kColumn], lanes = b.count[kLane];
  const i64 room = columns_.extent + columns_.padding - columns_.window;
  const i64 left = clamp(ceil_div(columns_.padding, columns_.stride), first, end);
  const i64 right = room < 0 ? left : clamp(room / columns_.stride + 1, left, end);
  const Axis &row = axis_[kRow], &near = axis_[kNear], &cell = axis_[kColumn];
  for_each_group(x, b, [&](i64 r, i64 rows, i64 lines, const i32* from) {
    const auto pool = [&](i64 column, i64 n, i64 edge) {
      const Part cells = columns_.inside(column, columns_.window);
      i32* at = y + r * to.row + (column - first) * to.column;
      const i32* cells_at = from + (columns_.start(column) + cells.begin) * cell.x;
      const i64 from_row = rows_.stride * row.x;
      if (!has_lanes())
        return loops_.small_windows(
            {n, n == 1 ? 1 : columns_.stride, cells.size(), 1, lines, row.x, rows, to.row, from_row,
                b.count[kNear], to.near, near.x, edge, columns_.start(column)},
            at, cells_at);
      for (i64 p = 0; p < b.count[kNear]; ++p)
        loops_.small_windows({lanes, 1, cells.size(), cell.x, lines, row.x, n, to.column,
                                 columns_.stride * cell.x, rows, to.row, from_row},
            at + p * to.near, cells_at + p * near.x);
    };
    // One window that the left border cuts, as is usual, is done with its row.
    const bool has_edge = !has_lanes() && left == first + 1 && left < right;
    const i64 edge = has_edge ? columns_.inside(first, columns_.window).size() : 0;
    if (left < right) pool(left, right - left, edge);
    for (i64 c = first + (has_edge ? 1 : 0); c < left; ++c) pool(c, 1, 0);
    for (i64 c = right; c < end; ++c) pool(c, 1, 0);
  });
}

// Computes the maxima of columns of the image: one row of the tile for each row of outputs.
void MaxPooling::pool_rows(i32* tile, const i32* x, const Block& b) const {
  const i64 lanes = b.count[kLane], row = pitch(b.count[kColumn]) * lanes;
  const Axis &columns = axis_[kColumn], &near = axis_[kNear];
  const Part cells = cells_inside(b);
  tile += cells.begin * lanes;
  x += (columns_.start(b.first[kColumn]) + cells.begin) * columns.x;
  for_each_group(x, b, [&](i64 r, i64 rows, i64 lines, const i32* from) {
    MaxRows m{cells.size() * lanes, lines, axis_[kRow].x, rows, row, rows_.stride * axis_[kRow].x,
        b.count[kNear], b.count[kRow] * row, near.x};
    if (!has_lanes() || columns.x == lanes) return loops_.max_rows(m, tile + r * row, from);
    m = {lanes, m.taps, m.tap, cells.size(), lanes, columns.x, rows, m.to_row, m.from_row};
    for (i64 p = 0; p < b.count[kNear]; ++p)
      loops_.max_rows(m, tile + (p * b.count[kRow] + r) * row, from + p * near.x);
  });
}

// Copies the part of the image that a block reads, its padding included.
void MaxPooling::stage(i32* to, const i32* x, const Block& b) const {
  const i64 lanes = b.count[kLane], row = pitch(b.count[kColumn]) * lanes;
  const i64 count = rows_.cells(b.count[kRow]);
  const Part cells = cells_inside(b), lines = rows_.inside(b.first[kRow], count);
  if (cells.size() < pitch(b.count[kColumn]) || lines.size() < count)
    std::fill_n(to, b.count[kNear] * count * row, kOutside);
  x += (columns_.start(b.first[kColumn]) + cells.begin) * axis_[kColumn].x +
      (rows_.start(b.first[kRow]) + lines.begin) * axis_[kRow].x;
  Move m;
  m.add(b.count[kNear], count * row, axis_[kNear].x);
  m.add(lines.size(), row, axis_[kRow].x);
  m.add(cells.size(), lanes, axis_[kColumn].x);
  m.add(lanes, 1, axis_[kLane].x);
  move_(m, to + lines.begin * row + cells.begin * lanes, x, false);
}

void MaxPooling::pool_stage(i32* tile, i32* staged, const Block& b) const {
  const i64 row = pitch(b.count[kColumn]) * b.count[kLane], lines = rows_.cells(b.count[kRow]);
  widen(staged, b.count[kNear] * lines * row, row, row_taps_);
  loops_.max_rows({row, row_taps_.taps, row_taps_.tap * row, b.count[kRow], row, rows_.stride * row,
                      b.count[kNear], b.count[kRow] * row, lines * row},
      tile, staged);
}

// Widens windows of one element to the length that the taps need.
void MaxPooling::widen(i32* at, i64 n, i64 step, const Taps& taps) const {
  for (i64 length = 1; length < taps.length; length *= 2)
    loops_.widen(at, n - length * step, length * step);
}

void MaxPooling::pool_columns(i32* to, i32* tile, const Block& b) const {
  const i64 lanes = b.count[kLane], columns = b.count[kColumn],
            rows = b.count[kNear] * b.count[kRow];
  const i64 row = pitch(columns) * lanes;
  const Taps& t = column_taps_;
  widen(tile, rows * row, lanes, t);
  const bool is_one = columns * step_ == row;  // whether rows follow each other as one
  if (!has_lanes())
    loops_.slide({is_one ? columns * rows : columns, step_, t.taps, t.tap, is_one ? 1 : rows, row},
        to, tile);
  else
    loops_.max_rows({lanes, t.taps, t.tap * lanes, columns, lanes, columns_.stride * lanes, rows,
                        columns * lanes, row},
        to, tile);
}

void MaxPooling::store(i32* y, const i32* from, const Block& b) const {
  const i64 lanes = b.count[kLane], columns = b.count[kColumn];
  const i64 row = columns * lanes, step[kAxes] = {0, b.count[kRow] * row, row, lanes, 1};
  Move m;
  for (const int d : y_order_) m.add(b.count[d], axis_[d].y, step[d]);
  move_(m, y, from, is_large_);
}

std::unique_ptr<Plan> max_pool2d_plan(const Arguments& a, const Kernel& kernel) {
  auto plan =
      std::make_unique<MaxPooling>(a, kernel, from_attributes<MaxPool2d>(a.call.attributes()));
  if (!plan->has_room()) return nullptr;
  return plan;
}

}  // namespace

std::vector<Kernel> max_pool2d_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<MaxPool2d>(all, max_pool2d_plan);
  return all;
}

}  // namespace lockstep::cpu
