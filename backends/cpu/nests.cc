#include "backends/cpu/nests.h"

#include <optional>

namespace lockstep::cpu {

std::vector<ChainInput> chain_inputs(const backend::LegalCall& call) {
  std::vector<ChainInput> all;
  for (const View& x : call.in) all.push_back({x, call.op->name == Where::name});
  return all;
}

Loops loops_of(const Out& y, std::span<const ChainInput> in) {
  Loops loops(static_cast<int>(in.size()) + 1);
  for (int d = 0; d < y.rank(); ++d) {
    PerTensor stride{y.stride[d]};
    for (std::size_t k = 0; k < in.size(); ++k) {
      const View& x = in[k].view;
      const int axis = in[k].aligns_left ? d : d - (y.rank() - x.rank());
      const bool moves = 0 <= axis && axis < x.rank() && x.dim(axis) != 1;
      stride[k + 1] = moves ? x.stride[axis] : 0;
    }
    loops.add(y.dim(d), stride);
  }
  loops.join();
  return loops;
}

namespace {

/// Adds the axes of the output that one axis of an input fills: each element `inner` times, then
/// all of them `outer` times.
void add_copies(Portion& p, i64 extent, i64 to_stride, i64 from_stride, i64 outer, i64 inner) {
  p.loops.add(outer, {to_stride * extent * inner, 0});
  p.loops.add(extent, {to_stride * inner, from_stride});
  p.loops.add(inner, {to_stride, 0});
}

/// Where the elements of each output axis d lie in X: from `begin`, `step` positions apart.
template <class F> Portions picked(const View& x, const Out& y, F begin_and_step) {
  Portion p;
  for (int d = 0; d < y.rank(); ++d) {
    const auto [begin, step] = begin_and_step(d);
    p.from += begin * x.stride[d];
    p.loops.add(y.dim(d), {y.stride[d], step * x.stride[d]});
  }
  return {p};
}

Portions portions_of(const TransposeAttrs& a, std::span<const View> in, const Out& y) {
  Portion p;
  for (int j = 0; j < y.rank(); ++j)
    p.loops.add(y.dim(j), {y.stride[j], in[0].stride[Transpose::source(a, j, y.rank())]});
  return {p};
}

Portions portions_of(const StridedSliceAttrs& a, std::span<const View> in, const Out& y) {
  return picked(in[0], y, [&](int d) {
    const StridedSlice::Cut c = StridedSlice::cut(a, d, in[0].dim(d));
    return std::pair(c.begin, c.step);
  });
}

Portions portions_of(const SliceLikeAttrs&, std::span<const View> in, const Out& y) {
  return picked(in[0], y, [](int) { return std::pair(i64{0}, i64{1}); });
}

Portions portions_of(const ConcatenateAttrs& a, std::span<const View> in, const Out& y) {
  Portions all;
  const int along = wrap(a.axis, y.rank());
  i64 before = 0;
  for (const View& x : in) {
    Portion p{.input = static_cast<int>(&x - in.data()), .to = before * y.stride[along]};
    for (int d = 0; d < x.rank(); ++d) p.loops.add(x.dim(d), {y.stride[d], x.stride[d]});
    before += x.dim(along);
    all.push_back(p);
  }
  return all;
}

Portions portions_of(const TileAttrs&, std::span<const View> in, const Out& y) {
  Portion p;
  for (int d = 0; d < y.rank(); ++d) {
    const int k = d - (y.rank() - in[0].rank());
    const i64 extent = k < 0 ? 1 : in[0].dim(k);
    add_copies(p, extent, y.stride[d], k < 0 ? 0 : in[0].stride[k], y.dim(d) / extent, 1);
  }
  return {p};
}

Portions portions_of(const RepeatAttrs& a, std::span<const View> in, const Out& y) {
  Portion p;
  const int along = wrap(a.axis, y.rank());
  for (int d = 0; d < y.rank(); ++d)
    add_copies(p, in[0].dim(d), y.stride[d], in[0].stride[d], 1, d == along ? a.repeats : 1);
  return {p};
}

Portions portions_of(const UpsamplingAttrs& a, std::span<const View> in, const Out& y) {
  Portion p;
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

/// Loops over the same elements in the same order under two shapes. None if an axis of one cannot
/// be cut at the axes of the other, as 2x3 at 3x2.
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

/// Serves reshape and its kin. Elements that no common axes describe go through compact memory.
template <class Attrs> Portions portions_of(const Attrs&, std::span<const View> in, const Out& y) {
  const std::vector<LoopAxis> from = axes_of(in[0], in[0].stride), to = axes_of(y, y.stride);
  if (const auto loops = renamed(from, to)) return {{.loops = *loops}};
  const std::vector<LoopAxis> compact = {{volume(y.shape), {1}}};
  return {{.loops = *renamed(from, compact), .to_scratch = true},
      {.input = kScratch, .loops = *renamed(compact, to)}};
}

/// The distance of elements that follow each other in row-major order; 0 if it varies.
i64 row_major_step(const View& x) {
  i64 step = 0, next = 0;
  for (int d = x.rank() - 1; d >= 0; --d) {
    if (x.dim(d) == 1) continue;
    if (step == 0) step = next = x.stride[d];
    if (x.stride[d] != next) return 0;
    next *= x.dim(d);
  }
  return max(step, 1);
}

Taking taking_of(const TakeAttrs& a, std::span<const View> in, const Out& y) {
  const View &x = in[Take::X], &index = in[Take::I];
  Taking t{Take::X, Take::I, volume(x.shape) - 1, row_major_step(x), !a.axis};
  if (!a.axis) {
    for (int d = 0; d < y.rank(); ++d) t.loops.add(y.dim(d), {y.stride[d], 0, index.stride[d]});
    return t;
  }
  const int along = wrap(*a.axis, x.rank()), after = along + index.rank();
  t.last = x.dim(along) - 1;
  t.step = x.stride[along];
  for (int d = 0; d < y.rank(); ++d) {
    const bool chooses = along <= d && d < after;
    const i64 from = chooses ? 0 : x.stride[d < along ? d : d - after + along + 1];
    t.loops.add(y.dim(d), {y.stride[d], from, chooses ? index.stride[d - along] : 0});
  }
  return t;
}

Taking taking_of(const CvmLutAttrs&, std::span<const View> in, const Out& y) {
  const View both[] = {in[CvmLut::T], in[CvmLut::D]};
  Taking t = taking_of(TakeAttrs{}, both, y);
  t.x = CvmLut::T;
  t.index = CvmLut::D;
  return t;
}

template <class Op> Loops reduction_of(const backend::LegalCall& call) {
  const auto attrs = from_attributes<Op>(call.attributes());
  const View& x = call.in[0];
  const Out& y = call.out[0];
  const unsigned reduced = Op::reduced_axes(attrs, x);
  Loops loops(2);
  for (int d = 0, e = 0; d < x.rank(); ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    loops.add(x.dim(d), {x.stride[d], is_reduced ? 0 : y.stride[e]});
    e += !is_reduced || attrs.keepdims ? 1 : 0;
  }
  loops.join();
  return loops;
}

template <class... Op> Portions portions_of(const backend::LegalCall& call, OperatorList<Op...>) {
  Portions portions;
  ((call.op->name == Op::name ? void(portions = portions_of(from_attributes<Op>(call.attributes()),
                                         call.in, call.out[0]))
                              : void()),
      ...);
  return portions;
}

}  // namespace

Portions portions_of(const backend::LegalCall& call) {
  return portions_of(call, MovingOperators{});
}

bool can_stay(const Portion& p) {
  return p.input != kScratch && !p.to_scratch && p.loops.moves_as_output(1);
}

Portions copied(const View& x, const Out& y) {
  return picked(x, y, [](int) { return std::pair(i64{0}, i64{1}); });
}

Taking taking_of(const backend::LegalCall& call) {
  const auto attributes = call.attributes();
  return call.op->name == Take::name
      ? taking_of(from_attributes<Take>(attributes), call.in, call.out[0])
      : taking_of(from_attributes<CvmLut>(attributes), call.in, call.out[0]);
}

Loops reduction_of(const backend::LegalCall& call) {
  return call.op->name == Sum::name ? reduction_of<Sum>(call) : reduction_of<Max>(call);
}

}  // namespace lockstep::cpu
