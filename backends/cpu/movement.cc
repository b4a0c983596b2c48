/// @file
/// The operators that move elements and compute nothing. Each is a list of pieces: boxes of the
/// output with the strides at which an input is read.
#include "backends/cpu/movement.h"

#include <optional>
#include <vector>

#include "backends/cpu/move.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/expand_dims.h"
#include "spec/ops/flatten.h"
#include "spec/ops/repeat.h"
#include "spec/ops/reshape.h"
#include "spec/ops/slice_like.h"
#include "spec/ops/squeeze.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/tile.h"
#include "spec/ops/transpose.h"
#include "spec/ops/upsampling.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBoxElements = i64{1} << 15;  // the second cache holds them in both layouts
constexpr double kElementNs = 0.3;

constexpr int kScratch = -1;

/// A part of the output that one input fills.
struct Piece {
  int input = 0;         ///< or kScratch
  i64 to = 0, from = 0;  ///< offsets
  Loops loops{2};
  bool to_scratch = false;
};
using Pieces = std::vector<Piece>;

/// Axes of the output that one axis of an input fills: each element `inner` times, then all of them
/// `outer` times.
void add_copies(Piece& p, i64 extent, i64 to_stride, i64 from_stride, i64 outer, i64 inner) {
  p.loops.add(outer, {to_stride * extent * inner, 0});
  p.loops.add(extent, {to_stride * inner, from_stride});
  p.loops.add(inner, {to_stride, 0});
}

/// Where the elements of each output axis d lie in X: from `begin`, `step` positions apart.
template <class F> Pieces picked(const View& x, const Out& y, F begin_and_step) {
  Piece p;
  for (int d = 0; d < y.rank(); ++d) {
    const auto [begin, step] = begin_and_step(d);
    p.from += begin * x.stride[d];
    p.loops.add(y.dim(d), {y.stride[d], step * x.stride[d]});
  }
  return {p};
}

Pieces pieces_of(const TransposeAttrs& a, std::span<const View> in, const Out& y) {
  Piece p;
  for (int j = 0; j < y.rank(); ++j)
    p.loops.add(y.dim(j), {y.stride[j], in[0].stride[Transpose::source(a, j, y.rank())]});
  return {p};
}

Pieces pieces_of(const StridedSliceAttrs& a, std::span<const View> in, const Out& y) {
  return picked(in[0], y, [&](int d) {
    const StridedSlice::Cut c = StridedSlice::cut(a, d, in[0].dim(d));
    return std::pair(c.begin, c.step);
  });
}

Pieces pieces_of(const SliceLikeAttrs&, std::span<const View> in, const Out& y) {
  return picked(in[0], y, [](int) { return std::pair(i64{0}, i64{1}); });
}

Pieces pieces_of(const ConcatenateAttrs& a, std::span<const View> in, const Out& y) {
  Pieces all;
  const int along = wrap(a.axis, y.rank());
  i64 before = 0;
  for (const View& x : in) {
    Piece p{.input = static_cast<int>(&x - in.data()), .to = before * y.stride[along]};
    for (int d = 0; d < x.rank(); ++d) p.loops.add(x.dim(d), {y.stride[d], x.stride[d]});
    before += x.dim(along);
    all.push_back(p);
  }
  return all;
}

Pieces pieces_of(const TileAttrs&, std::span<const View> in, const Out& y) {
  Piece p;
  for (int d = 0; d < y.rank(); ++d) {
    const int k = d - (y.rank() - in[0].rank());
    const i64 extent = k < 0 ? 1 : in[0].dim(k);
    add_copies(p, extent, y.stride[d], k < 0 ? 0 : in[0].stride[k], y.dim(d) / extent, 1);
  }
  return {p};
}

Pieces pieces_of(const RepeatAttrs& a, std::span<const View> in, const Out& y) {
  Piece p;
  const int along = wrap(a.axis, y.rank());
  for (int d = 0; d < y.rank(); ++d)
    add_copies(p, in[0].dim(d), y.stride[d], in[0].stride[d], 1, d == along ? a.repeats : 1);
  return {p};
}

Pieces pieces_of(const UpsamplingAttrs& a, std::span<const View> in, const Out& y) {
  Piece p;
  for (int d = 0; d < y.rank(); ++d)
    add_copies(p, in[0].dim(d), y.stride[d], in[0].stride[d], 1, d < 2 ? 1 : a.scale);
  return {p};
}

/// The axes of one tensor, those that continue each other joined, the innermost last.
std::vector<LoopAxis> axes_of(const Type& t, const i64* stride) {
  std::vector<LoopAxis> all;
  for (int d = 0; d < t.rank(); ++d) {
    const LoopAxis a{t.dim(d), {stride[d]}};
    if (a.extent == 1) continue;
    if (!all.empty() && all.back().stride[0] == a.stride[0] * a.extent)
      all.back() = {all.back().extent * a.extent, a.stride};
    else
      all.push_back(a);
  }
  return all;
}

/// The same elements in the same order under two shapes. None if an axis of one cannot be cut at
/// the axes of the other, as 2x3 at 3x2.
std::optional<Loops> renamed(std::vector<LoopAxis> from, std::vector<LoopAxis> to) {
  Loops loops(2);
  while (!from.empty()) {
    const LoopAxis &f = from.back(), &t = to.back();
    const i64 n = min(f.extent, t.extent);
    if (f.extent % n != 0 || t.extent % n != 0) return std::nullopt;
    loops.add(n, {t.stride[0], f.stride[0]});
    const auto cut = [n](std::vector<LoopAxis>& axes) {
      LoopAxis& a = axes.back();
      a = {a.extent / n, {a.stride[0] * n}};
      if (a.extent == 1) axes.pop_back();
    };
    cut(from);
    cut(to);
  }
  return loops;
}

/// Reshape and its kin. Elements that no common axes describe go through compact memory.
template <class Attrs> Pieces pieces_of(const Attrs&, std::span<const View> in, const Out& y) {
  const std::vector<LoopAxis> from = axes_of(in[0], in[0].stride), to = axes_of(y, y.stride);
  if (const auto loops = renamed(from, to)) return {{.loops = *loops}};
  const std::vector<LoopAxis> compact = {{volume(y.shape), {1}}};
  return {{.loops = *renamed(from, compact), .to_scratch = true},
      {.input = kScratch, .loops = *renamed(compact, to)}};
}

class Movement : public Plan {
 public:
  Movement(std::string name, const std::shared_ptr<ThreadPool>& pool, const Isa& isa, i64 elements,
      Pieces pieces)
      : name_(std::move(name)),
        pool_(pool),
        move_(move_box(isa)),
        is_large_(leaves_caches(elements)),
        pieces_(std::move(pieces)) {
    for (Piece& p : pieces_) {
      p.loops.join();
      p.loops.cut(kBoxElements);
    }
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    auto* room = static_cast<i32*>(scratch);
    for (const Piece& p : pieces_) {
      const i32* from = (p.input == kScratch ? room : in[p.input]) + p.from;
      i32* to = (p.to_scratch ? room : out[0]) + p.to;
      pool_->run(p.loops.boxes(), kElementNs * static_cast<double>(p.loops.box_volume()),
          [&](i64 begin, i64 end) { move_boxes(p.loops, begin, end, to, from, move_, is_large_); });
    }
  }
  uint64_t scratch_bytes() const override {
    i64 elements = 0;
    for (const Piece& p : pieces_)
      if (p.to_scratch) elements += p.loops.volume();
    return static_cast<uint64_t>(elements) * sizeof(i32);
  }
  const char* path() const override { return name_.c_str(); }

 private:
  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  MoveBox move_;
  bool is_large_;
  Pieces pieces_;
};

template <class Op> std::unique_ptr<Plan> movement_plan(const Arguments& a, const Kernel& kernel) {
  const Out& y = a.call.out[0];
  return std::make_unique<Movement>(kernel.name, a.pool, *find_isa(kernel.isa), volume(y.shape),
      pieces_of(from_attributes<Op>(a.call.attributes()), a.call.in, y));
}

template <class... Op> std::vector<Kernel> kernels_of() {
  std::vector<Kernel> all;
  (add_target_kernels<Op>(all, movement_plan<Op>), ...);
  return all;
}

}  // namespace

std::unique_ptr<Plan> copy_plan(
    const View& x, const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa) {
  return std::make_unique<Movement>("copy", pool, isa, volume(y.shape),
      picked(x, y, [](int) { return std::pair(i64{0}, i64{1}); }));
}

std::vector<Kernel> movement_kernels() {
  return kernels_of<Concatenate, ExpandDims, Flatten, Repeat, Reshape, SliceLike, Squeeze,
      StridedSlice, Tile, Transpose, Upsampling>();
}

}  // namespace lockstep::cpu
