#include "backends/cpu/conv2d.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kPatchBytesMax = i64{8} << 20;    // above it the generic kernel serves
constexpr i64 kInPlaceBytesMax = i64{1} << 30;  // of a unit: offsets have 31 bits
constexpr i64 kLinesOutputs = 2;  // of a group, at most, that are computed line by line

/// Joins the rows of an image into one if they follow each other. @return whether they do
template <class V> bool join_rows(V& v) {
  if (v.stride[2] != v.dim(3) * v.stride[3] && v.dim(2) > 1) return false;
  v.shape[3] *= v.dim(2);
  v.shape[2] = 1;
  return true;
}

/// Joins all axes but the first into one if they follow each other. @return whether they do
template <class V> bool join_all(V& v) {
  i64 step = 0, extent = 1;
  for (int d = 3; d > 0; --d) {
    if (v.dim(d) == 1) continue;
    if (extent == 1) step = v.stride[d];
    if (v.stride[d] != step * extent) return false;
    extent *= v.dim(d);
  }
  v.shape = {v.dim(0), extent};
  v.stride[1] = extent == 1 ? 1 : step;
  return true;
}

/// Whether tiles can add the tensor of the fusion: its rows must lie as rows of the output do.
bool can_add(const View& added, const Out& y) {
  const auto is_same = [&](int d) { return y.dim(d) == 1 || added.stride[d] == y.stride[d]; };
  return is_same(2) && is_same(3) && (y.stride[3] == 1 || y.dim(3) == 1);
}

/// Whether tiles can use the images that lie as cells. Groups must not share a plane.
bool can_use_cells(
    const Fusion& f, const Conv2dAttrs& attrs, i64 group_inputs, const DotKernels& dot) {
  const auto divides = [&](i64 channels) { return attrs.groups == 1 || channels % dot.terms == 0; };
  const bool writes = f.writes == Form::cells || f.adds == Form::cells;
  return dot.rows % dot.terms == 0 && (f.reads != Form::cells || divides(group_inputs)) &&
      (!writes || divides(attrs.channels / attrs.groups));
}

/// The bytes of scratch memory that blocks need besides patches, at most.
i64 weight_bytes(const Arguments& a, const Patch& patch, const DotKernels& dot) {
  const i64 slack = 2 * 64 + (dot.block ? kBlockSlack : 0);
  const auto steps = static_cast<i64>(patch.steps().size());
  const i64 words = a.constants[Conv2d::W] ? 0 : row_words(steps, patch.chunk_steps(), dot);
  return a.call.out[0].dim(1) * (1 + words) * static_cast<i64>(sizeof(Word)) + slack;
}

/// Whether the kernels of a depthwise call, which repeat in all lanes, fit scratch memory.
bool has_room_for_lanes(const Arguments& a, const Conv2dAttrs& attrs, const DotKernels& dot) {
  const i64 steps = attrs.kernel_size[0] * ceil_div(attrs.kernel_size[1], i64{dot.terms});
  const i64 words = (1 + steps) * (dot.lanes / dot.terms) * attrs.channels;
  return a.constants[Conv2d::W] || words * static_cast<i64>(sizeof(Word)) <= scratch_most(a.call);
}

}  // namespace

std::optional<Design> design_of(
    const Arguments& a, const Conv2dAttrs& attrs, const DotKernels& dot) {
  const Fusion& f = a.fusion;
  const bool adds = f.finish && f.finish->adds;
  const i64 inputs = a.call.in[Conv2d::W].dim(1), outputs = attrs.channels / attrs.groups;
  if (adds && !can_add(f.added, a.call.out[0])) return std::nullopt;
  View x = a.call.in[Conv2d::X];
  Out y = a.call.out[0];
  const auto axis = [&](int d) {
    return axis_of(x.dim(2 + d), y.dim(2 + d), attrs.kernel_size[d], attrs.strides[d],
        attrs.padding[d], attrs.dilation[d]);
  };
  const bool by_lines = outputs <= kLinesOutputs && (y.stride[3] == 1 || y.dim(3) == 1) && !adds;
  if (by_lines && inputs == 1 && outputs == 1 && attrs.channels % dot.terms == 0 &&
      has_room_for_lanes(a, attrs, dot)) {
    Patch shared(axis(0), axis(1), dot.terms, dot, f.reads == Form::cells);
    if (shared.shrink_to(kLinesBytes))
      return Design{Way::depthwise, x, y, shared, attrs.channels / dot.terms, dot.terms, dot.terms};
  }
  if (f.uses(Form::cells) && !can_use_cells(f, attrs, inputs, dot)) return std::nullopt;
  const bool is_pointwise = attrs.kernel_size == Tuple{1, 1} && attrs.strides == Tuple{1, 1} &&
      attrs.padding == Tuple{0, 0};
  bool is_row = false;
  if (View row = x; is_pointwise && join_rows(row))
    if (Out to = y; join_rows(to)) x = row, y = to, is_row = true;
  Patch patch(axis(0), axis(1), inputs, dot, f.reads == Form::cells);
  const auto design = [&](Way way, const Patch& p) {
    return Design{way, x, y, p, attrs.groups, inputs, outputs};
  };
  if (f.reads == Form::cells && is_row) {
    patch.read_in_place(x.stride[1]);
    if (patch.bytes() > kInPlaceBytesMax) return std::nullopt;
    return design(Way::in_place, patch);
  }
  if (Patch small = patch; by_lines && !f.uses(Form::cells) && small.shrink_to(kLinesBytes))
    return design(Way::lines, small);
  const i64 room = scratch_most(a.call) - weight_bytes(a, patch, dot);
  Design blocks = design(Way::blocks, patch);
  blocks.patch_bytes = min(kPatchBytes, room);
  if (!blocks.patch.shrink_to(blocks.patch_bytes) &&
      !blocks.patch.shrink_to(min(kPatchBytesMax, room)))
    return std::nullopt;
  return blocks;
}

bool suits_blocks(const Design& d) {
  if (d.way == Way::lines || d.way == Way::depthwise) return false;
  return is_block_better(
      d.group_outputs, static_cast<i64>(d.patch.steps().size()), d.patch.chunk_steps());
}

bool adds_in_place(const Fusion& f, const Out& y) {
  bool is_same = f.adds == f.writes;
  for (int d = 0; d < 4; ++d)
    is_same = is_same && (y.dim(d) == 1 || f.added.stride[d] == y.stride[d]);
  return is_same;
}

bool become_dense(Arguments& a, const Conv2dAttrs& attrs) {
  View &x = a.call.in[Conv2d::X], &w = a.call.in[Conv2d::W];
  const bool is_whole = attrs.kernel_size == Tuple{x.dim(2), x.dim(3)} &&
      attrs.padding == Tuple{0, 0} && attrs.groups == 1;
  return is_whole && join_all(x) && join_all(w) && join_all(a.call.out[0]);
}

bool conv2d_serves(const Arguments& a) {
  const auto attrs = from_attributes<Conv2d>(a.call.attributes());
  if (Arguments product = a; become_dense(product, attrs)) return false;
  const DotKernels& dot = best_dot(*a.isa);
  const std::optional<Design> design = design_of(a, attrs, dot);
  return design && (!dot.block || suits_blocks(*design) || design_of(a, attrs, *dot.few_rows));
}

}  // namespace lockstep::cpu
