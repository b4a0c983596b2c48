/// @file
/// dense as a matrix product: both factors are packed into panels, one for the lanes of a tile, the
/// other for its rows. Factors that are not constant are packed block by block, so that scratch
/// memory stays small for matrices of any size.
#include "spec/ops/dense.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/conv2d.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kFactorBytes = i64{1} << 20;  // of each factor packed at a time
constexpr i64 kStepsMax = 4096;             // steps that are added up at a time
constexpr i64 kRowsPerItem = 256;           // of parallel work
constexpr int kCellsOfStep = 64;            // bytes of a block's lanes at a step

/// The steps of a chunk of a block.
i64 chunk_steps(i64 steps) { return min(kChunkSteps, steps); }

/// The distances between the steps of each chunk.
template <int32_t kBytes> constexpr auto kStrides = [] {
  std::array<int32_t, kStepsMax / kChunkSteps> all{};
  all.fill(kBytes);
  return all;
}();

/// `count` vectors of `depth` values, packed in panels of `width` vectors. Only the last panel may
/// be narrower, and only where it is not filled up.
struct Factor {
  int port;
  bool is_lanes;
  i64 count, depth, stride, depth_stride, width;
  i64 block = 0;      ///< vectors packed at a time, a multiple of the width
  Packed constant{};  ///< all panels, if the values are constants

  /// Bytes of a packed vector of `steps` steps; a row also holds its start value.
  i64 bytes(i64 steps, const DotKernels& dot) const {
    if (is_lanes) return steps * dot.cell_bytes;
    return (1 + row_words(steps, chunk_steps(steps), dot)) * static_cast<i64>(sizeof(Word));
  }
  i64 panels(i64 vectors) const { return ceil_div(vectors, width); }
  i64 filled_up(i64 vectors) const { return is_lanes ? panels(vectors) * width : vectors; }
};

/// Steps that are added up at a time.
struct Depth {
  i64 first, steps;
};

Factor factor_of(const View& v, int port, bool is_lanes, const DotKernels& dot) {
  Factor f{port, is_lanes, v.dim(0), v.dim(1), v.stride[0], v.stride[1], dot.lanes};
  if (!is_lanes) f.width = panel_rows(f.count, dot);
  const i64 panel = f.bytes(min(kStepsMax, ceil_div(f.depth, dot.terms)), dot) * f.width;
  f.block = min(max(1, kFactorBytes / panel) * f.width, f.filled_up(f.count));
  return f;
}

/// Computes the start values of packed rows. They take back what the offset of the cells adds to a
/// row's sums: the offset times the sum of the row, which is its product with cells of ones.
void begin_rows(uint32_t* start, const Word* rows, i64 count, i64 steps, const DotKernels& dot) {
  static constexpr int32_t kSame[kStepsMax] = {};
  static constexpr uint32_t kZeros[kRowsMax] = {};
  alignas(64) static constexpr auto kOnes = [] {
    std::array<uint8_t, i64{kLanesMax} * 4> ones{};
    ones.fill(1);
    return ones;
  }();
  std::fill_n(start, count, 0U);
  if (dot.offset == 0) return;
  const Piece first{0, 0, 1};
  const Slot slot{kOnes.data(), &first, 1};
  const Tile tile{rows, kZeros, nullptr, kSame, steps, &slot,
      {reinterpret_cast<int32_t*>(start), 1, false}, nullptr, {},
      {chunk_steps(steps), kStrides<0>.data(), 0, 0}};
  compute_tile(dot, tile, static_cast<int>(count), 1);
  for (i64 r = 0; r < count; ++r) start[r] *= 0U - static_cast<uint32_t>(dot.offset);
}

/// Packs rows for a block.
void pack_chunks(uint8_t* to, const i32* from, const Factor& f, i64 count, const Depth& d,
    const DotKernels& dot) {
  constexpr i64 kRowBytes = kChunkSteps * static_cast<i64>(sizeof(Word));
  const i64 depth = chunk_steps(d.steps), apart = dot.terms * f.depth_stride;
  const i64 whole = min(d.steps, f.depth / dot.terms - d.first), rest = f.depth % dot.terms;
  for (i64 k = 0; k < d.steps; k += depth, to += count * kRowBytes) {
    const i64 begin = k - min(k, d.steps - depth), n = min(depth - begin, whole - k);
    if (begin > 0 || n < kChunkSteps)
      std::memset(to, 0, static_cast<std::size_t>(count * kRowBytes));
    uint8_t* const at = to + begin * static_cast<i64>(sizeof(Word));
    const i32* const first = from + k * apart;
    if (n > 0)
      dot.pack_rows(at, first, {count, n, dot.terms, f.stride, apart, f.depth_stride, kRowBytes});
    if (n < depth - begin)
      dot.pack_rows(at + n * static_cast<i64>(sizeof(Word)), first + n * apart,
          {count, 1, rest, f.stride, apart, f.depth_stride, kRowBytes});
  }
}

/// Packs some steps of `count` vectors, which are at most a panel.
void pack_panel(uint8_t* to, const i32* from, const Factor& f, i64 count, const Depth& d,
    const DotKernels& dot) {
  const i64 first = d.first * dot.terms, depth = min(d.steps * dot.terms, f.depth - first);
  const i64 width = f.is_lanes ? f.width : count;
  const i64 step = width * (f.is_lanes ? dot.cell_bytes : static_cast<i64>(sizeof(Word)));
  from += first * f.depth_stride;
  auto* start = reinterpret_cast<uint32_t*>(to);
  if (!f.is_lanes) to += count * static_cast<i64>(sizeof(Word));
  const auto pack = f.is_lanes ? dot.pack_cells : dot.pack_rows;
  const i64 whole = depth / dot.terms, rest = depth % dot.terms;
  const i64 apart = dot.terms * f.depth_stride;
  if (dot.block && !f.is_lanes) {
    pack_chunks(to, from, f, count, d, dot);
  } else {
    pack(to, from, {whole, count, dot.terms, apart, f.stride, f.depth_stride, step});
    if (rest > 0)
      pack(to + whole * step, from + whole * apart,
          {1, count, rest, 0, f.stride, f.depth_stride, 0});
  }
  if (!f.is_lanes) begin_rows(start, reinterpret_cast<const Word*>(to), count, d.steps, dot);
}

/// Packs some steps of the vectors first .. first + count - 1.
void pack(ThreadPool& pool, uint8_t* to, const Constant& from, const Factor& f, i64 first,
    i64 count, const Depth& d, const DotKernels& dot) {
  const double ns = kPackNs * static_cast<double>(f.width * d.steps * dot.terms);
  pool.run(f.panels(count), ns, [&](i64 begin, i64 end) {
    std::vector<i32> room;
    for (i64 p = begin; p < end; ++p) {
      const i64 vector = p * f.width, vectors = min(f.width, count - vector);
      pack_panel(to + vector * f.bytes(d.steps, dot),
          from.values((first + vector) * f.stride, vectors * f.stride, room), f, vectors, d, dot);
    }
  });
}

/// The output as tiles see it.
struct Target {
  i32* y;
  const i32* bias;  ///< nullptr: none
  i64 row_stride, lane_stride, bias_row_stride, bias_lane_stride;

  Target from(i64 row, i64 lane) const {
    Target t = *this;
    t.y += row * row_stride + lane * lane_stride;
    if (bias) t.bias += row * bias_row_stride + lane * bias_lane_stride;
    return t;
  }
};

/// A block of both factors, packed.
struct Panels {
  const uint8_t *rows, *lanes;
  i64 row_count, lane_count, steps;
  bool adds;  ///< whether to add to what the output already holds
};

class TunedDense : public KernelPlan {
 public:
  TunedDense(
      const Arguments& a, const Kernel& kernel, const DotKernels& dot, Factor rows, Factor lanes);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(room(lanes_) + room(rows_) + (dot_.block ? kBlockSlack : 0));
  }

 private:
  i64 steps() const { return ceil_div(lanes_.depth, dot_.terms); }
  i64 room(const Factor& f) const {
    return f.constant.empty() ? f.block * f.bytes(part_, dot_) : 0;
  }
  void fit(i64 bytes);
  void pack_constant(Factor& f, const Constant& values) const;
  const uint8_t* packed(const Factor& f, uint8_t* scratch, const i32* from, i64 first, i64 count,
      const Depth& d) const;
  void multiply(const Panels& p, const Target& to) const;
  void multiply_slots(const Panels& p, i64 row, i64 rows, i64 lane, const Target& to) const;

  const DotKernels& dot_;
  Factor rows_, lanes_;
  Target target_;
  bool has_bias_;
  std::optional<Finish> finish_;
  i64 bias_stride_ = 0;
  i64 part_;  ///< steps that are added up at a time
  std::vector<int32_t> offsets_;
};

TunedDense::TunedDense(
    const Arguments& a, const Kernel& kernel, const DotKernels& dot, Factor rows, Factor lanes)
    : KernelPlan(kernel.name, a.pool),
      dot_(dot),
      rows_(std::move(rows)),
      lanes_(std::move(lanes)),
      has_bias_(a.call.in.size() == 3),
      finish_(a.fusion.finish),
      part_(min(kStepsMax, steps())) {
  const Out& y = a.call.out[0];
  const bool swapped = rows_.port == Dense::W;  // whether the rows of tiles are units
  bias_stride_ = has_bias_ ? a.call.in[Dense::B].stride[0] : 0;
  target_ = {nullptr, nullptr, y.stride[swapped ? 1 : 0], y.stride[swapped ? 0 : 1],
      swapped ? bias_stride_ : 0, swapped ? 0 : bias_stride_};
  for (Factor* f : {&rows_, &lanes_})
    if (a.constants[static_cast<std::size_t>(f->port)]) f->block = 0;
  fit(scratch_most(a.call));
  for (i64 t = 0; t < part_; ++t)
    offsets_.push_back(static_cast<int32_t>(t * dot.lanes * dot.cell_bytes));
  for (Factor* f : {&rows_, &lanes_})
    if (const Constant& values = a.constants[static_cast<std::size_t>(f->port)])
      pack_constant(*f, values);
}

// Packs fewer vectors at a time and, unless tiles finish their sums, fewer steps, until the blocks
// fit scratch memory.
void TunedDense::fit(i64 bytes) {
  const auto fits = [&] { return scratch_bytes() <= static_cast<uint64_t>(bytes); };
  for (Factor* f : {&rows_, &lanes_})
    while (!fits() && f->block > f->width) f->block = ceil_div(f->block / 2, f->width) * f->width;
  while (!fits() && !finish_ && part_ > kChunkSteps)
    part_ = ceil_div(part_ / 2, i64{kChunkSteps}) * kChunkSteps;
}

// Packs all panels of one part of the depth after another.
void TunedDense::pack_constant(Factor& f, const Constant& values) const {
  const i64 vectors = f.filled_up(f.count), depths = ceil_div(steps(), part_);
  const i64 starts = f.is_lanes ? 0 : (depths - 1) * static_cast<i64>(sizeof(Word));
  f.constant = Packed(vectors * (f.bytes(steps(), dot_) + starts) + kBlockSlack);
  f.block = vectors;
  uint8_t* to = f.constant.data();
  for (Depth d{0, 0}; d.first < steps(); d.first += part_) {
    d.steps = min(part_, steps() - d.first);
    pack(*pool_, to, values, f, 0, f.count, d, dot_);
    to += vectors * f.bytes(d.steps, dot_);
  }
}

const uint8_t* TunedDense::packed(const Factor& f, uint8_t* scratch, const i32* from, i64 first,
    i64 count, const Depth& d) const {
  if (f.constant.empty()) {
    pack(*pool_, scratch, {from}, f, first, count, d, dot_);
    return scratch;
  }
  const i64 before = d.first / part_ * f.bytes(part_, dot_);
  return f.constant.data() + before * f.filled_up(f.count) + first * f.bytes(d.steps, dot_);
}

void TunedDense::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  Target to = target_;
  to.y = out[0];
  to.bias = has_bias_ ? in[Dense::B] : nullptr;
  auto* lane_room = static_cast<uint8_t*>(scratch);
  uint8_t* row_room = lane_room + room(lanes_);
  Depth d{0, 0};
  Panels p{};
  for (d.first = 0; d.first < steps(); d.first += part_) {
    d.steps = p.steps = min(part_, steps() - d.first);
    p.adds = d.first > 0;
    for (i64 l = 0; l < lanes_.count; l += lanes_.block) {
      p.lane_count = min(lanes_.block, lanes_.count - l);
      p.lanes = packed(lanes_, lane_room, in[lanes_.port], l, p.lane_count, d);
      for (i64 r = 0; r < rows_.count; r += rows_.block) {
        p.row_count = min(rows_.block, rows_.count - r);
        if (l == 0 || rows_.block < rows_.count)
          p.rows = packed(rows_, row_room, in[rows_.port], r, p.row_count, d);
        multiply(p, to.from(r, l));
      }
    }
  }
}

// Each item of parallel work multiplies some rows by a few panels of lanes.
void TunedDense::multiply(const Panels& p, const Target& to) const {
  const i64 slots = lanes_.panels(p.lane_count);
  const i64 width = even_part(slots, dot_.slots) * dot_.lanes,
            widths = ceil_div(slots * dot_.lanes, width);
  const i64 most = ceil_div(kRowsPerItem, rows_.width) * rows_.width;
  const i64 rows = min(most, p.row_count), chunks = ceil_div(p.row_count, rows);
  const i64 macs = max(rows, 4) * width * dot_.terms * p.steps;  // fewer rows wait for memory
  pool_->run(
      chunks * widths, static_cast<double>(macs) / dot_.macs_per_ns, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i) {
          const i64 row = i / widths * rows, lane = i % widths * width;
          Panels some = p;
          some.lane_count = min(width, p.lane_count - lane);
          multiply_slots(some, row, min(rows, p.row_count - row), lane, to.from(row, lane));
        }
      });
}

void TunedDense::multiply_slots(
    const Panels& p, i64 row, i64 rows, i64 lane, const Target& to) const {
  Placement at;
  uint32_t lane_start[kSlotsMax * kLanesMax] = {};
  at.slots = static_cast<int>(lanes_.panels(p.lane_count));
  at.lane_stride = to.lane_stride;
  at.adds = p.adds;
  for (int s = 0; s < at.slots; ++s) {
    const i64 first = i64{s} * dot_.lanes;
    at.piece[s] = {
        first * to.lane_stride, 0, static_cast<int32_t>(min(dot_.lanes, p.lane_count - first))};
    at.slot[s] = {p.lanes + (lane + first) * lanes_.bytes(p.steps, dot_), at.piece + s, 1};
  }
  const i32* bias = p.adds ? nullptr : to.bias;
  const bool starts_lanes = bias && rows_.port == Dense::X;
  for (i64 l = 0; starts_lanes && l < p.lane_count; ++l)
    lane_start[l] = static_cast<uint32_t>(bias[l * bias_stride_]);
  for (i64 r = 0; r < rows; r += rows_.width) {
    const i64 height = min(rows_.width, rows - r);
    const auto* panel =
        reinterpret_cast<const Word*>(p.rows + (row + r) * rows_.bytes(p.steps, dot_));
    const uint32_t* start = panel;
    uint32_t biased[kRowsMax];
    if (bias && !starts_lanes) {
      for (i64 k = 0; k < height; ++k)
        biased[k] = panel[k] + static_cast<uint32_t>(bias[(r + k) * bias_stride_]);
      start = biased;
    }
    const Tile tile{panel + height, start, starts_lanes ? lane_start : nullptr, offsets_.data(),
        p.steps, at.slot, {to.y + r * to.row_stride, to.row_stride, false},
        finish_ ? &*finish_ : nullptr, {},
        {chunk_steps(p.steps), kStrides<kCellsOfStep>.data(), 0, 0}};
    run_tile(dot_, tile, static_cast<int>(height), at);
  }
}

bool has_few_rows(const View& x, const View& w, const DotKernels& dot) {
  const i64 rows = min(x.dim(0), w.dim(0)), steps = min(kStepsMax, ceil_div(x.dim(1), dot.terms));
  if (dot.block) return !is_block_better(rows, steps, chunk_steps(steps));
  // Rows of up to two tiles still wait for the cells of the other factor.
  return dot.few_rows && rows <= i64{2} * dot.few_rows->rows;
}

}  // namespace

std::unique_ptr<Plan> dense_plan(const Arguments& a, const Kernel& kernel, const DotKernels& all) {
  if (a.fusion.uses(Form::pixels)) return pixel_conv2d_plan(a, kernel, all);
  const View &x = a.call.in[Dense::X], &w = a.call.in[Dense::W];
  // A tile can finish only sums that it completes itself.
  if (const std::optional<Finish>& f = a.fusion.finish)
    if (f->adds || ceil_div(x.dim(1), all.terms) > kStepsMax) return nullptr;
  const DotKernels& dot = has_few_rows(x, w, all) ? *all.few_rows : all;
  // A tile has many lanes but any number of rows: few units waste less if they are the rows.
  const bool swapped = w.dim(0) < dot.lanes && w.dim(0) < x.dim(0);
  auto plan = std::make_unique<TunedDense>(a, kernel, dot,
      swapped ? factor_of(w, Dense::W, false, dot) : factor_of(x, Dense::X, false, dot),
      swapped ? factor_of(x, Dense::X, true, dot) : factor_of(w, Dense::W, true, dot));
  const auto most = static_cast<uint64_t>(scratch_most(a.call));
  return plan->scratch_bytes() <= most ? std::move(plan) : nullptr;
}

std::vector<Kernel> dense_kernels() { return dot_kernels<Dense>(dense_plan); }

}  // namespace lockstep::cpu
