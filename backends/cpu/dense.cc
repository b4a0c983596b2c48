/// @file
/// dense as a matrix product: both factors are packed into panels of int16 pairs, one for the lanes
/// of a tile, the other for its rows. Factors that are not constant are packed block by block, so
/// that scratch memory stays small for matrices of any size.
#include "spec/ops/dense.h"

#include "backends/cpu/pack.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kFactorBytes = i64{4} << 20;    // of each factor packed at a time
constexpr i64 kPanelBytesMax = i64{8} << 20;  // above it the generic kernel serves
constexpr i64 kRowsPerItem = 48;              // of parallel work: a few tiles

/// `count` vectors of `depth` values, packed in panels: [terms][width] pairs, where only the last
/// panel may be narrower unless `is_padded`.
struct Factor {
  int port;
  i64 count, depth, stride, depth_stride, width;
  bool is_padded;
  i64 block = 0;                 ///< vectors packed at a time, a multiple of the width
  std::vector<Pair> constant{};  ///< all panels, if the values are constants

  i64 terms() const { return (depth + 1) / 2; }
  i64 panels(i64 vectors) const { return ceil_div(vectors, width); }
};

Factor factor_of(const View& v, int port, i64 width, bool is_padded) {
  Factor f{port, v.dim(0), v.dim(1), v.stride[0], v.stride[1], width, is_padded};
  const i64 panel_bytes = f.terms() * width * static_cast<i64>(sizeof(Pair));
  f.block = max(1, kFactorBytes / panel_bytes) * width;
  f.block = min(f.block, f.panels(f.count) * width);
  return f;
}

/// One panel of `width` vectors, of which the first `filled` exist. The others hold any values; no
/// output depends on them.
void pack_panel(Pair* to, const i32* from, const Factor& f, i64 filled, i64 width) {
  const i64 step = f.depth_stride, whole = f.depth / 2;
  for (i64 r = 0; r < filled; ++r) {
    const i32* x = from + r * f.stride;
    Pair* y = to + r;
    for (i64 t = 0; t < whole; ++t) y[t * width] = pair_of(x[2 * t * step], x[(2 * t + 1) * step]);
    if (f.depth % 2 == 1) y[whole * width] = pair_of(x[2 * whole * step], 0);
  }
}

/// Packs the vectors first .. first + count - 1.
void pack(ThreadPool& pool, Pair* to, const i32* from, const Factor& f, i64 first, i64 count) {
  const double ns = kPackNs * static_cast<double>(f.width * f.depth);
  pool.run(f.panels(count), ns, [&](i64 begin, i64 end) {
    for (i64 p = begin; p < end; ++p) {
      const i64 filled = min(f.width, count - p * f.width);
      pack_panel(to + p * f.width * f.terms(), from + (first + p * f.width) * f.stride, f, filled,
          f.is_padded ? f.width : filled);
    }
  });
}

/// The output as tiles see it.
struct Target {
  i32* y;
  i64 row_stride, lane_stride;
  const i32* bias;
  i64 bias_row_stride, bias_lane_stride;

  Target from(i64 row, i64 lane) const {
    Target t = *this;
    t.y += row * row_stride + lane * lane_stride;
    t.bias += row * bias_row_stride + lane * bias_lane_stride;
    return t;
  }
  void store(const i32* tile, i64 rows, i64 lanes) const {
    for (i64 r = 0; r < rows; ++r) {
      const i32* sum = tile + r * kSlots * kLanes;
      const i32* b = bias + r * bias_row_stride;
      i32* to = y + r * row_stride;
      for (i64 i = 0; i < lanes; ++i) to[i * lane_stride] = add(sum[i], b[i * bias_lane_stride]);
    }
  }
};

class TunedDense : public Plan {
 public:
  TunedDense(
      const Arguments& a, const Kernel& kernel, const DotKernels& dot, Factor rows, Factor lanes);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  const char* path() const override { return name_.c_str(); }
  uint64_t scratch_bytes() const override {
    return sizeof(Pair) * static_cast<uint64_t>(room(lanes_) + room(rows_));
  }

 private:
  static i64 room(const Factor& f) { return f.constant.empty() ? f.block * f.terms() : 0; }
  const Pair* packed(const Factor& f, Pair* scratch, const i32* from, i64 first, i64 count) const;
  void multiply(
      const Pair* rows, i64 row_count, const Pair* lanes, i64 lane_count, const Target& to) const;
  void multiply_rows(
      const Pair* rows, i64 row_count, const Pair* lanes, i64 lane_count, const Target& to) const;

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  const DotKernels& dot_;
  Factor rows_, lanes_;
  Target target_;
  bool has_bias_;
  std::vector<int32_t> offsets_;
};

TunedDense::TunedDense(
    const Arguments& a, const Kernel& kernel, const DotKernels& dot, Factor rows, Factor lanes)
    : name_(kernel.name),
      pool_(a.pool),
      dot_(dot),
      rows_(std::move(rows)),
      lanes_(std::move(lanes)),
      has_bias_(a.call.in.size() == 3) {
  const Out& y = a.call.out[0];
  const bool swapped = rows_.port == Dense::W;  // units are rows of tiles
  const i64 bias = has_bias_ ? a.call.in[Dense::B].stride[0] : 0;
  target_ = {nullptr, y.stride[swapped ? 1 : 0], y.stride[swapped ? 0 : 1], nullptr,
      swapped ? bias : 0, swapped ? 0 : bias};
  for (i64 t = 0; t < lanes_.terms(); ++t) offsets_.push_back(static_cast<int32_t>(t * kLanes));
  for (Factor* f : {&rows_, &lanes_}) {
    const i32* values = a.constants[static_cast<std::size_t>(f->port)];
    if (!values) continue;
    const i64 vectors = f->is_padded ? f->panels(f->count) * f->width : f->count;
    f->constant.resize(static_cast<std::size_t>(vectors * f->terms()));
    pack(*pool_, f->constant.data(), values, *f, 0, f->count);
  }
}

const Pair* TunedDense::packed(
    const Factor& f, Pair* scratch, const i32* from, i64 first, i64 count) const {
  if (!f.constant.empty()) return f.constant.data() + first * f.terms();
  pack(*pool_, scratch, from, f, first, count);
  return scratch;
}

void TunedDense::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  static constexpr i32 kNoBias = 0;
  Target to = target_;
  to.y = out[0];
  to.bias = has_bias_ ? in[Dense::B] : &kNoBias;
  auto* lane_room = static_cast<Pair*>(scratch);
  Pair* row_room = lane_room + room(lanes_);
  for (i64 l = 0; l < lanes_.count; l += lanes_.block) {
    const i64 lane_count = min(lanes_.block, lanes_.count - l);
    const Pair* lanes = packed(lanes_, lane_room, in[lanes_.port], l, lane_count);
    for (i64 r = 0; r < rows_.count; r += rows_.block) {
      const i64 row_count = min(rows_.block, rows_.count - r);
      const Pair* rows = packed(rows_, row_room, in[rows_.port], r, row_count);
      multiply(rows, row_count, lanes, lane_count, to.from(r, l));
    }
  }
}

// Each item of parallel work multiplies a few tiles of rows by two panels of lanes.
void TunedDense::multiply(
    const Pair* rows, i64 row_count, const Pair* lanes, i64 lane_count, const Target& to) const {
  constexpr i64 kWidth = i64{kSlots} * kLanes;
  const i64 chunks = ceil_div(row_count, kRowsPerItem), widths = ceil_div(lane_count, kWidth);
  const i64 terms = lanes_.terms(), macs = min(row_count, kRowsPerItem) * kWidth * 2 * terms;
  pool_->run(
      chunks * widths, static_cast<double>(macs) / dot_.macs_per_ns, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i) {
          const i64 row = i / widths * kRowsPerItem, lane = i % widths * kWidth;
          multiply_rows(rows + row * terms, min(kRowsPerItem, row_count - row),
              lanes + lane * terms, min(kWidth, lane_count - lane), to.from(row, lane));
        }
      });
}

void TunedDense::multiply_rows(
    const Pair* rows, i64 row_count, const Pair* lanes, i64 lane_count, const Target& to) const {
  const i64 terms = lanes_.terms();
  const Pair* second = lane_count > kLanes ? lanes + kLanes * terms : lanes;
  for (i64 r = 0; r < row_count; r += dot_.rows) {
    const i64 height = min(dot_.rows, row_count - r);
    i32 tile[kRowsMax * kSlots * kLanes];
    dot_.tile[height - 1](rows + r * terms, offsets_.data(), terms, lanes, second, tile);
    to.from(r, 0).store(tile, height, lane_count);
  }
}

std::unique_ptr<Plan> dense_plan(const Arguments& a, const Kernel& kernel, const DotKernels& dot) {
  const View &x = a.call.in[Dense::X], &w = a.call.in[Dense::W];
  // A tile has eight lanes but any number of rows: few units waste less as rows.
  const bool swapped = w.dim(0) < kLanes && w.dim(0) < x.dim(0);
  const i64 panel_bytes = (x.dim(1) + 1) / 2 * kLanes * static_cast<i64>(sizeof(Pair));
  if (panel_bytes > kPanelBytesMax) return nullptr;
  const int height = dot.rows;
  return std::make_unique<TunedDense>(a, kernel, dot,
      swapped ? factor_of(w, Dense::W, height, false) : factor_of(x, Dense::X, height, false),
      swapped ? factor_of(x, Dense::X, kLanes, true) : factor_of(w, Dense::W, kLanes, true));
}

}  // namespace

std::vector<Kernel> dense_kernels() { return dot_kernels<Dense>(dense_plan); }

}  // namespace lockstep::cpu
