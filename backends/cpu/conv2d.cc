/// @file
/// conv2d without im2col: a block of the image is packed once, its padding included, and every tap
/// of the kernel reads it at its own offset. The rows of a tile are weights; its lanes are
/// neighbouring outputs.
#include "spec/ops/conv2d.h"

#include "backends/cpu/patch.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kPatchBytes = i64{1} << 19;     // of the patches packed at a time
constexpr i64 kPatchBytesMax = i64{8} << 20;  // above it the generic kernel serves
constexpr i64 kWeightBytes = i64{1} << 18;    // of weights that stay cached for one block
constexpr i64 kWordBytes = sizeof(Word);

/// A block of outputs: rows and columns of some units, which are groups of images.
struct Block {
  i64 unit, units, row, rows, column, columns;
};

class TunedConv2d : public Plan {
 public:
  TunedConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot,
      const Conv2dAttrs& attrs, const Patch& patch);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  const char* path() const override { return name_.c_str(); }
  uint64_t scratch_bytes() const override {
    const i64 weights = constant_.empty() ? weight_words() * kWordBytes : 0;
    return static_cast<uint64_t>(patch_bytes() + weights);
  }

 private:
  struct Run;  // what one execution computes with

  i64 steps() const { return static_cast<i64>(steps_.size()); }
  /// A panel begins with where its rows begin, of which each output has one.
  i64 output_words() const { return 1 + steps(); }
  i64 weight_words() const { return y_.dim(1) * output_words(); }
  /// The last slot of the last patch may read beyond it.
  i64 patch_bytes() const { return units_per_block_ * patch_.bytes() + i64{kLanesMax} * 4; }

  void pack_weights(Word* to, const i32* weights) const;
  void pack_panel(Word* to, const i32* weights, i64 height) const;
  void pack_block(const Run& run, const Block& b) const;
  void compute(const Run& run, const Block& b) const;
  void place(const Run& run, const Block& b, i64 unit, i64 first_slot, Placement& at) const;
  void multiply(const Run& run, const Placement& at, i64 unit, i64 first, i64 count) const;
  i64 slot_pitch(const Block& b) const;

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  const DotKernels& dot_;
  View x_, w_, bias_;
  Out y_;
  i64 groups_, group_inputs_, group_outputs_;
  Patch patch_;
  i64 units_per_block_, height_, outputs_per_item_;
  std::vector<Step> steps_;
  std::vector<int32_t> offsets_;
  std::vector<Word> constant_;  // the packed weights, if they are constants
};

struct TunedConv2d::Run {
  const i32 *x, *bias;
  i32* y;
  const Word* weights;
  uint8_t* patch;
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
      units_per_block_(clamp(kPatchBytes / patch.bytes(), 1, groups_ * x_.dim(0))),
      height_(even_part(group_outputs_, dot.rows)),
      steps_(patch.steps()) {
  if (attrs.use_bias) bias_ = a.call.in[Conv2d::B];
  for (const Step& s : steps_) offsets_.push_back(static_cast<int32_t>(patch_.offset(s)));
  const i64 most = max(1, kWeightBytes / (output_words() * kWordBytes * height_)) * height_;
  outputs_per_item_ = min(group_outputs_, most);
  if (const i32* weights = a.constants[Conv2d::W]) {
    constant_.resize(static_cast<std::size_t>(weight_words()));
    pack_weights(constant_.data(), weights);
  }
}

// Packs panels of a tile's height, group by group; the last panel of a group may be lower.
void TunedConv2d::pack_weights(Word* to, const i32* weights) const {
  const i64 panels = ceil_div(group_outputs_, height_);
  const double panel_ns = 8 * kPackNs * static_cast<double>(steps() * dot_.terms * height_);
  pool_->run(groups_ * panels, panel_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 row = i % panels * height_, first = i / panels * group_outputs_ + row;
      pack_panel(to + first * output_words(), weights + first * w_.stride[0],
          min(height_, group_outputs_ - row));
    }
  });
}

void TunedConv2d::pack_panel(Word* to, const i32* weights, i64 height) const {
  const i64 apart = w_.stride[patch_.term_axis()];
  std::fill_n(to, height, 0U);
  Word* at = to + height;
  for (const Step& s : steps_) {
    const i32* w =
        weights + s.channel * w_.stride[1] + s.row * w_.stride[2] + s.column * w_.stride[3];
    dot_.pack_rows(
        reinterpret_cast<uint8_t*>(at), w, {1, height, s.terms, 0, w_.stride[0], apart, 0});
    for (i64 r = 0; r < height; ++r)
      to[r] += static_cast<Word>(start_of(dot_, w + r * w_.stride[0], s.terms, apart));
    at += height;
  }
}

void TunedConv2d::pack_block(const Run& run, const Block& b) const {
  const i64 lines = patch_.lines(), planes = patch_.planes();
  const double line_ns = kPackNs * static_cast<double>(patch_.line_cells() * dot_.terms);
  pool_->run(b.units * planes * lines, line_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 unit = i / (planes * lines), group = (b.unit + unit) % groups_;
      const i32* image =
          run.x + (b.unit + unit) / groups_ * x_.stride[0] + group * group_inputs_ * x_.stride[1];
      patch_.pack_line(run.patch + unit * patch_.bytes(), x_, image, i / lines % planes, i % lines,
          b.row, b.column);
    }
  });
}

// Slots may run from one row of outputs into the next, over the cells between them, or begin anew
// in every row. The pitch is how many lanes apart two rows begin.
i64 TunedConv2d::slot_pitch(const Block& b) const {
  const i64 aligned = ceil_div(b.columns, dot_.lanes) * dot_.lanes, pitch = patch_.pitch();
  const i64 slots = ceil_div((b.rows - 1) * pitch + b.columns, dot_.lanes);
  return slots < b.rows * aligned / dot_.lanes ? pitch : aligned;
}

// Each item of parallel work computes some output channels of one unit at a few slots.
void TunedConv2d::compute(const Run& run, const Block& b) const {
  const i64 slots = ceil_div((b.rows - 1) * slot_pitch(b) + b.columns, dot_.lanes);
  const i64 width = even_part(slots, dot_.slots), widths = ceil_div(slots, width);
  const i64 chunks = ceil_div(group_outputs_, outputs_per_item_);
  const i64 macs = steps() * dot_.terms * outputs_per_item_ * width * dot_.lanes;
  const double item_ns = static_cast<double>(macs) / dot_.macs_per_ns;
  pool_->run(b.units * chunks * widths, item_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 unit = i / (chunks * widths), first = i / widths % chunks * outputs_per_item_;
      const i64 slot = i % widths * width;
      Placement at;
      at.slots = static_cast<int>(min(width, slots - slot));
      place(run, b, unit, slot, at);
      multiply(run, at, b.unit + unit, first, min(outputs_per_item_, group_outputs_ - first));
    }
  });
}

void TunedConv2d::place(
    const Run& run, const Block& b, i64 unit, i64 first_slot, Placement& at) const {
  const i64 pitch = slot_pitch(b);
  Piece* piece = at.piece;
  at.lane_stride = y_.stride[3];
  for (int k = 0; k < at.slots; ++k) {
    const i64 lane = (first_slot + k) * dot_.lanes;
    i64 row = lane / pitch, column = lane % pitch;
    Slot& slot = at.slot[k];
    slot.cells = run.patch + unit * patch_.bytes() + (row * patch_.pitch() + column) * dot_.terms;
    slot.pieces = piece;
    for (i64 l = 0; l < dot_.lanes && row < b.rows; l += pitch - column, column = 0, ++row)
      if (const i64 n = min(dot_.lanes - l, b.columns - column); n > 0)
        *piece++ = {(b.row + row) * y_.stride[2] + (b.column + column) * y_.stride[3],
            static_cast<int32_t>(l), static_cast<int32_t>(n)};
    slot.piece_count = static_cast<int32_t>(piece - slot.pieces);
  }
}

void TunedConv2d::multiply(
    const Run& run, const Placement& at, i64 unit, i64 first, i64 count) const {
  const i64 channel = unit % groups_ * group_outputs_ + first;
  i32* y = run.y + unit / groups_ * y_.stride[0];
  for (i64 o = channel; o < channel + count; o += height_) {
    const i64 height = min(height_, channel + count - o);
    const Word* panel = run.weights + o * output_words();
    i32 start[kRowsMax];
    for (i64 r = 0; r < height; ++r)
      start[r] =
          add(static_cast<i32>(panel[r]), run.bias ? run.bias[(o + r) * bias_.stride[0]] : 0);
    run_tile(dot_,
        {panel + height, start, nullptr, offsets_.data(), steps(), at.slot, y + o * y_.stride[1],
            y_.stride[1]},
        static_cast<int>(height), at);
  }
}

void TunedConv2d::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  Run run{in[Conv2d::X], bias_.rank() > 0 ? in[Conv2d::B] : nullptr, out[0], constant_.data(),
      static_cast<uint8_t*>(scratch)};
  if (constant_.empty()) {
    auto* weights = static_cast<Word*>(scratch);
    pack_weights(weights, in[Conv2d::W]);
    run.weights = weights;
    run.patch += weight_words() * kWordBytes;
  }
  const i64 units = y_.dim(0) * groups_, height = y_.dim(2), width = y_.dim(3);
  Block b{};
  for (b.unit = 0; b.unit < units; b.unit += units_per_block_)
    for (b.row = 0; b.row < height; b.row += patch_.rows())
      for (b.column = 0; b.column < width; b.column += patch_.columns()) {
        b.units = min(units_per_block_, units - b.unit);
        b.rows = min(patch_.rows(), height - b.row);
        b.columns = min(patch_.columns(), width - b.column);
        pack_block(run, b);
        compute(run, b);
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
  Patch patch(axis(0), axis(1), x.dim(1) / attrs.groups, dot);
  if (!patch.shrink_to(kPatchBytes) && !patch.shrink_to(kPatchBytesMax)) return nullptr;
  return std::make_unique<TunedConv2d>(a, kernel, dot, attrs, patch);
}

}  // namespace

std::vector<Kernel> conv2d_kernels() { return dot_kernels<Conv2d>(conv2d_plan); }

}  // namespace lockstep::cpu
