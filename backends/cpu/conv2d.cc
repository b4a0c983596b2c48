/// @file
/// conv2d without im2col: a block of the image is packed once, its padding included, and every tap
/// of the kernel reads it at its own offset. The rows of a tile are weights; its lanes are
/// neighbouring outputs of an image row.
#include "spec/ops/conv2d.h"

#include "backends/cpu/patch.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kImageBytes = i64{1} << 20;     // of the image packed at a time
constexpr i64 kImageBytesMax = i64{8} << 20;  // above it the generic kernel serves
constexpr i64 kWeightBytes = i64{1} << 17;    // of weights that stay cached for one block
constexpr i64 kOverread = kLanes;             // pairs beyond the end that the last lanes may read

/// A block of outputs: one image, some groups, rows and columns.
struct Block {
  i64 image, group, groups, row, rows, column, columns;
  i64 slots_per_row() const { return ceil_div(columns, kLanes); }
  i64 slots() const { return rows * slots_per_row(); }
};

class TunedConv2d : public Plan {
 public:
  TunedConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot,
      const Conv2dAttrs& attrs, const Patch& patch);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  const char* path() const override { return name_.c_str(); }
  uint64_t scratch_bytes() const override {
    const i64 weights = constant_.empty() ? weight_pairs() : 0;
    return sizeof(Pair) * static_cast<uint64_t>(patch_pairs() + weights);
  }

 private:
  i64 depth() const { return static_cast<i64>(terms_.size()); }
  i64 weight_pairs() const { return y_.dim(1) * depth(); }
  i64 patch_pairs() const { return groups_per_block_ * patch_.group_pairs() + kOverread; }
  double ns(i64 pairs) const { return static_cast<double>(2 * pairs) / dot_.macs_per_ns; }

  void pack_weights(Pair* to, const i32* weights) const;
  void pack_panel(Pair* to, const i32* weights, i64 first, i64 height) const;
  void pack_block(Pair* to, const i32* x, const Block& b) const;
  void compute(
      const Pair* patch, const Pair* weights, const i32* bias, i32* y, const Block& b) const;
  void compute_slots(const Pair* patch, const Pair* weights, const i32* bias, i32* y,
      const Block& b, i64 first_slot, i64 first, i64 count) const;
  void store(const i32* tile, i64 height, const i32* bias, i32* y, i64 lanes) const;

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  const DotKernels& dot_;
  View x_, w_, bias_;
  Out y_;
  i64 groups_, group_inputs_, group_outputs_;
  Patch patch_;
  i64 groups_per_block_, outputs_per_item_;
  std::vector<Term> terms_;
  std::vector<int32_t> offsets_;
  std::vector<Pair> constant_;  // the packed weights, if they are constants
};

TunedConv2d::TunedConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot,
    const Conv2dAttrs& attrs, const Patch& patch)
    : name_(kernel.name),
      pool_(a.pool),
      dot_(dot),
      x_(a.call.in[Conv2d::X]),
      w_(a.call.in[Conv2d::W]),
      y_(a.call.out[0]),
      groups_(attrs.groups),
      group_inputs_(w_.dim(1)),
      group_outputs_(attrs.channels / attrs.groups),
      patch_(patch),
      groups_per_block_(clamp(kImageBytes / patch.group_bytes(), 1, groups_)),
      terms_(patch.terms()) {
  if (attrs.use_bias) bias_ = a.call.in[Conv2d::B];
  for (const Term& t : terms_) offsets_.push_back(static_cast<int32_t>(patch_.offset(t)));
  const i64 row_bytes = depth() * static_cast<i64>(sizeof(Pair));
  outputs_per_item_ = max(1, kWeightBytes / row_bytes / dot_.rows) * dot_.rows;
  if (const i32* weights = a.constants[Conv2d::W]) {
    constant_.resize(static_cast<std::size_t>(weight_pairs()));
    pack_weights(constant_.data(), weights);
  }
}

// Packs panels of a tile's height, group by group; the last panel of a group may be lower.
void TunedConv2d::pack_weights(Pair* to, const i32* weights) const {
  const i64 panels = ceil_div(group_outputs_, dot_.rows);
  const double panel_ns = 4 * kPackNs * static_cast<double>(depth() * dot_.rows);
  pool_->run(groups_ * panels, panel_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 row = i % panels * dot_.rows, first = i / panels * group_outputs_ + row;
      pack_panel(to + first * depth(), weights, first, min(dot_.rows, group_outputs_ - row));
    }
  });
}

void TunedConv2d::pack_panel(Pair* to, const i32* weights, i64 first, i64 height) const {
  for (const Term& t : terms_) {
    const i32* w = weights + first * w_.stride[0] + t.row * w_.stride[2];
    const i64 a = t.channel * w_.stride[1] + t.column * w_.stride[3];
    const i64 b = t.next_channel * w_.stride[1] + t.next_column * w_.stride[3];
    for (i64 r = 0; r < height; ++r, w += w_.stride[0])
      *to++ = pair_of(w[a], t.next_channel < 0 ? 0 : w[b]);
  }
}

void TunedConv2d::pack_block(Pair* to, const i32* x, const Block& b) const {
  const i64 lines = patch_.lines(), planes = patch_.planes();
  const double line_ns = 2 * kPackNs * static_cast<double>(patch_.line_pairs());
  pool_->run(b.groups * planes * lines, line_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 group = i / (planes * lines), channel = (b.group + group) * group_inputs_;
      patch_.pack_line(to + group * patch_.group_pairs(), x_,
          x + b.image * x_.stride[0] + channel * x_.stride[1], i / lines % planes, i % lines, b.row,
          b.column);
    }
  });
}

// Each item of parallel work computes some output channels of one group at two slots.
void TunedConv2d::compute(
    const Pair* patch, const Pair* weights, const i32* bias, i32* y, const Block& b) const {
  const i64 pairs = ceil_div(b.slots(), kSlots);
  const i64 chunks = ceil_div(group_outputs_, outputs_per_item_);
  const i64 outputs = min(group_outputs_, outputs_per_item_);
  pool_->run(
      b.groups * chunks * pairs, ns(depth() * outputs * kSlots * kLanes), [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i) {
          const i64 group = i / (chunks * pairs), row = i / pairs % chunks * outputs;
          const i64 first = (b.group + group) * group_outputs_ + row;
          compute_slots(patch + group * patch_.group_pairs(), weights, bias, y, b,
              i % pairs * kSlots, first, min(outputs, group_outputs_ - row));
        }
      });
}

void TunedConv2d::compute_slots(const Pair* patch, const Pair* weights, const i32* bias, i32* y,
    const Block& b, i64 first_slot, i64 first, i64 count) const {
  const Pair* slot[kSlots];
  i32* to[kSlots];
  i64 lanes[kSlots];
  const i64 slots = min(kSlots, b.slots() - first_slot);
  for (i64 k = 0; k < kSlots; ++k) {
    const i64 s = first_slot + min(k, slots - 1);
    const i64 row = s / b.slots_per_row(), column = s % b.slots_per_row() * kLanes;
    slot[k] = patch + patch_.cell(row, column);
    to[k] = y + b.image * y_.stride[0] + (b.row + row) * y_.stride[2] +
        (b.column + column) * y_.stride[3];
    lanes[k] = min(kLanes, b.columns - column);
  }
  for (i64 o = first; o < first + count; o += dot_.rows) {
    const i64 height = min(dot_.rows, first + count - o);
    i32 tile[kRowsMax * kSlots * kLanes];
    dot_.tile[height - 1](weights + o * depth(), offsets_.data(), depth(), slot[0], slot[1], tile);
    const i32* shift = bias ? bias + o * bias_.stride[0] : nullptr;
    for (i64 k = 0; k < slots; ++k)
      store(tile + k * kLanes, height, shift, to[k] + o * y_.stride[1], lanes[k]);
  }
}

void TunedConv2d::store(const i32* tile, i64 height, const i32* bias, i32* y, i64 lanes) const {
  const i64 step = y_.stride[3];
  for (i64 r = 0; r < height; ++r) {
    const i32* sum = tile + r * kSlots * kLanes;
    const i32 shift = bias ? bias[r * bias_.stride[0]] : 0;
    i32* to = y + r * y_.stride[1];
    if (lanes == kLanes && step == 1)
      for (i64 i = 0; i < kLanes; ++i) to[i] = add(sum[i], shift);
    else
      for (i64 i = 0; i < lanes; ++i) to[i * step] = add(sum[i], shift);
  }
}

void TunedConv2d::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  auto* patch = static_cast<Pair*>(scratch);
  const Pair* weights = constant_.data();
  if (constant_.empty()) {
    pack_weights(patch + patch_pairs(), in[Conv2d::W]);
    weights = patch + patch_pairs();
  }
  const i32* bias = bias_.rank() > 0 ? in[Conv2d::B] : nullptr;
  const i64 height = y_.dim(2), width = y_.dim(3);
  Block b{};
  for (b.image = 0; b.image < y_.dim(0); ++b.image)
    for (b.group = 0; b.group < groups_; b.group += groups_per_block_)
      for (b.row = 0; b.row < height; b.row += patch_.rows())
        for (b.column = 0; b.column < width; b.column += patch_.columns()) {
          b.groups = min(groups_per_block_, groups_ - b.group);
          b.rows = min(patch_.rows(), height - b.row);
          b.columns = min(patch_.columns(), width - b.column);
          pack_block(patch, in[Conv2d::X], b);
          compute(patch, weights, bias, out[0], b);
        }
}

std::unique_ptr<Plan> conv2d_plan(const Arguments& a, const Kernel& kernel, const DotKernels& dot) {
  const auto attrs = from_attributes<Conv2d>(a.call.attributes());
  const View& x = a.call.in[Conv2d::X];
  const Out& y = a.call.out[0];
  const auto axis = [&](int d) {
    return axis_of(x.dim(2 + d), y.dim(2 + d), attrs.kernel_size[d], attrs.strides[d],
        attrs.padding[d], attrs.dilation[d]);
  };
  Patch patch(axis(0), axis(1), x.dim(1) / attrs.groups);
  if (!patch.shrink_to(kImageBytes) && !patch.shrink_to(kImageBytesMax)) return nullptr;
  return std::make_unique<TunedConv2d>(a, kernel, dot, attrs, patch);
}

}  // namespace

std::vector<Kernel> conv2d_kernels() { return dot_kernels<Conv2d>(conv2d_plan); }

}  // namespace lockstep::cpu
