/// @file
/// conv2d without im2col: a block of the image is packed once, its padding included, and every tap
/// of the kernel reads it at its own offset. The rows of a tile are weights; its lanes are
/// neighbouring outputs.
#include "backends/cpu/conv2d.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBusyPercent = 97;   // of the lanes of slots, or pixels are better
constexpr i64 kLinesPerItem = 32;  // packed by an item of parallel work
constexpr i64 kWordBytes = sizeof(Word);

/// A block of outputs: some rows and columns of some units. A unit is one group of one image.
struct Block {
  i64 unit, units, row, rows, column, columns;
};

class TunedConv2d : public KernelPlan {
 public:
  TunedConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot,
      const Conv2dAttrs& attrs, const Design& d);
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  uint64_t scratch_bytes() const override {
    const i64 weights = constant_.empty() ? weight_words() * kWordBytes
        : bias_.rank() > 0                ? starts() * kWordBytes
                                          : 0;
    return static_cast<uint64_t>(weights + (way_ == Way::blocks ? patches_bytes() : 0));
  }
  bool works_in_place(std::size_t input) const override {
    return input == added_port_ && adds_in_place(fusion_, y_);
  }

 private:
  struct Run;  // what one execution computes with

  i64 steps() const {
    return way_ == Way::depthwise ? w_.dim(2) * line_steps() : static_cast<i64>(steps_.size());
  }
  /// The steps of a line of a depthwise kernel.
  i64 line_steps() const { return ceil_div(w_.dim(3), dot_.terms); }
  i64 start_words() const { return way_ == Way::depthwise ? dot_.lanes / dot_.terms : 1; }
  /// The Words of all start values. They lie before the rows, which begin with a cache line.
  i64 starts() const {
    constexpr i64 kCacheLine = 64 / kWordBytes;
    return ceil_div(y_.dim(1) * start_words(), kCacheLine) * kCacheLine;
  }
  i64 output_words() const {
    if (way_ == Way::depthwise) return steps() * start_words();
    return row_words(steps(), depth_, dot_);
  }
  i64 weight_words() const {
    return starts() + y_.dim(1) * output_words() + (dot_.block ? kBlockSlack / kWordBytes : 0);
  }
  /// The last slot of the last patch may read beyond that patch.
  i64 patches_bytes() const { return units_per_block_ * patch_.bytes() + kLanesMax * kWordBytes; }

  void pack_weights(Word* to, const Constant& weights, const i32* bias) const;
  void pack_panel(Word* to, uint32_t* start, const i32* weights, i64 height) const;
  void put_step(Word* panel, const Word* words, i64 height, i64 step) const;
  void pack_kernels(Word* to, uint32_t* start, const i32* weights) const;
  void add_bias(uint32_t* to, const uint32_t* start, const i32* bias) const;
  void pack_block(const Run& run, const Block& b) const;
  void lay_out_taps();
  void lay_out_steps();
  bool are_pixels_better() const;
  i64 slots(const Block& b) const {
    return ceil_div((b.rows - 1) * slot_pitch(b) + b.columns, dot_.lanes);
  }
  /// The items of parallel work of a whole block, if each computes all outputs.
  i64 items_of_block() const {
    const Block b{0, units_per_block_, 0, patch_.rows(), 0, patch_.columns()};
    return b.units *
        (by_pixels_ ? b.rows * ceil_div(b.columns, dot_.rows) : ceil_div(slots(b), dot_.slots));
  }
  void compute(const Run& run, const Block& b) const;
  void compute_pixels(const Run& run, const Block& b) const;
  void place(const Run& run, const Block& b, i64 unit, i64 first_slot, Placement& at) const;
  const i32* image(const Run& run, i64 unit) const;
  void run_by_lines(const Run& run) const;
  void multiply_lines(const Run& run, const Block& b, const Word* patch) const;
  void multiply_depthwise(const Run& run, const Block& b, const Word* patch) const;
  void multiply(const Run& run, const Placement& at, i64 unit, i64 first, i64 count,
      bool are_far = false) const;
  const uint8_t* cells(const Run& run, const Block& b, i64 unit) const;
  i64 slot_pitch(const Block& b) const;

  const DotKernels& dot_;
  Way way_;
  View x_, w_, bias_;
  Out y_;
  i64 groups_, group_inputs_, group_outputs_;
  Patch patch_;
  i64 units_per_block_;
  Fusion fusion_;
  std::size_t added_port_;
  i64 x_terms_, y_terms_, added_terms_;  // channels that share a plane
  bool is_dense_ = true;                 // whether a depthwise kernel's lines are a pitch apart
  bool by_pixels_ = false;               // whether a tile's lanes are channels, its rows pixels
  i64 height_, depth_, outputs_per_item_;
  std::vector<Step> steps_;
  std::vector<int32_t> offsets_, strides_;  // of steps; between the steps of each chunk of a block
  Packed constant_;                         // the packed weights, if they are constants
};

struct TunedConv2d::Run {
  const i32* x;
  i32* y;
  const i32* added;
  const uint32_t* starts;
  const Word* rows;
  Word* patch;
};

TunedConv2d::TunedConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot,
    const Conv2dAttrs& attrs, const Design& d)
    : KernelPlan(kernel.name, a.pool),
      dot_(dot),
      way_(d.way),
      x_(d.x),
      w_(a.call.in[Conv2d::W]),
      y_(d.y),
      groups_(d.groups),
      group_inputs_(d.group_inputs),
      group_outputs_(d.group_outputs),
      patch_(d.patch),
      units_per_block_(
          clamp(d.way == Way::in_place ? groups_ * x_.dim(0) : d.patch_bytes / patch_.bytes(), 1,
              groups_ * x_.dim(0))),
      fusion_(a.fusion),
      added_port_(a.call.in.size()),
      x_terms_(fusion_.reads == Form::cells ? dot.terms : 1),
      y_terms_(fusion_.writes == Form::cells ? dot.terms : 1),
      added_terms_(fusion_.adds == Form::cells ? dot.terms : 1),
      height_(way_ == Way::lines ? 1 : panel_rows(group_outputs_, dot)),
      depth_(patch_.chunk_steps()),
      steps_(patch_.steps()) {
  if (are_pixels_better()) {
    by_pixels_ = true;
    height_ = even_part(group_outputs_ / dot.lanes, dot.slots) * dot.lanes;
  }
  // A tile must hold all rows that share cells.
  if (y_terms_ * added_terms_ > 1) height_ = ceil_div(height_, dot.terms) * dot.terms;
  if (way_ == Way::depthwise)
    lay_out_taps();
  else
    lay_out_steps();
  outputs_per_item_ = outputs_of_item(
      group_outputs_, height_, output_words() * kWordBytes, items_of_block(), *pool_);
  if (attrs.use_bias) bias_ = a.call.in[Conv2d::B];
  const Constant& weights = a.constants[Conv2d::W];
  if (!weights) return;
  const i32* const bias = attrs.use_bias ? a.constants[Conv2d::B].wide : nullptr;
  constant_ = Packed(weight_words() * kWordBytes);
  pack_weights(reinterpret_cast<Word*>(constant_.data()), weights, bias);
  if (bias) bias_ = View{};
}

// Packs the start values of the outputs and then, group by group, panels as high as a tile; the
// last panel of a group may be lower.
void TunedConv2d::pack_weights(Word* to, const Constant& weights, const i32* bias) const {
  const i64 panels = ceil_div(group_outputs_, height_);
  const double panel_ns = 8 * kPackNs * static_cast<double>(steps() * dot_.terms * height_);
  pool_->run(groups_ * panels, panel_ns, [&](i64 begin, i64 end) {
    std::vector<i32> room;
    for (i64 i = begin; i < end; ++i) {
      const i64 row = i % panels * height_, first = i / panels * group_outputs_ + row;
      const i64 height = min(height_, group_outputs_ - row);
      uint32_t* const start = to + first * start_words();
      for (i64 r = 0; r < height; ++r)
        start[r] = bias ? static_cast<uint32_t>(bias[(first + r) * bias_.stride[0]]) : 0;
      Word* const panel = to + starts() + first * output_words();
      const i32* const rows = weights.values(first * w_.stride[0], height * w_.stride[0], room);
      way_ == Way::depthwise ? pack_kernels(panel, start, rows)
                             : pack_panel(panel, start, rows, height);
    }
  });
}

void TunedConv2d::pack_panel(Word* to, uint32_t* start, const i32* weights, i64 height) const {
  const i64 apart = w_.stride[patch_.term_axis()];
  Word words[kRowsMax];
  if (dot_.block) std::fill_n(to, height * output_words(), 0U);
  for (i64 k = 0; k < steps(); ++k) {
    const Step& s = steps_[static_cast<std::size_t>(k)];
    const i32* w =
        weights + s.channel * w_.stride[1] + s.row * w_.stride[2] + s.column * w_.stride[3];
    dot_.pack_rows(reinterpret_cast<uint8_t*>(dot_.block ? words : to), w,
        {1, height, s.terms, 0, w_.stride[0], apart, 0});
    for (i64 r = 0; r < height; ++r)
      for (i64 t = 0; t < s.terms; ++t)
        start[r] -= static_cast<uint32_t>(dot_.offset) *
            static_cast<uint32_t>(w[r * w_.stride[0] + t * apart]);
    if (dot_.block)
      put_step(to, words, height, k);
    else
      to += height;
  }
}

// Puts the Words of one step where the layout of a block (Chunks) has them.
void TunedConv2d::put_step(Word* panel, const Word* words, i64 height, i64 step) const {
  const i64 chunk = step / depth_, in_chunk = step - min(chunk * depth_, steps() - depth_);
  for (i64 r = 0; r < height; ++r) panel[(chunk * height + r) * kChunkSteps + in_chunk] = words[r];
}

void TunedConv2d::lay_out_steps() {
  for (const Step& s : steps_) offsets_.push_back(static_cast<int32_t>(patch_.offset(s)));
  if (!dot_.block) return;
  for (i64 k = 0; k < steps(); k += depth_) {
    const int32_t* first = offsets_.data() + min(k, steps() - depth_);
    const int32_t stride = depth_ > 1 ? first[1] - first[0] : 0;
    bool is_even = true;
    for (i64 s = 1; s < depth_; ++s) is_even = is_even && first[s] - first[s - 1] == stride;
    strides_.push_back(is_even ? stride : Chunks::kUneven);
  }
}

// A step of a depthwise kernel is some taps of one of its lines; in the last one a tap repeats.
void TunedConv2d::lay_out_taps() {
  height_ = dot_.terms;
  for (i64 row = 0; row < w_.dim(2); ++row) {
    const i64 first = patch_.offset({0, row, 0, 1});
    is_dense_ = is_dense_ && first == row * patch_.pitch() * kWordBytes;
    for (i64 k = 0; k < line_steps() * dot_.terms; ++k)
      offsets_.push_back(static_cast<int32_t>(patch_.offset({0, row, min(k, w_.dim(3) - 1), 1})));
  }
}

// Packs the kernels of channels that share cells. Kernels and start values repeat in all lanes.
void TunedConv2d::pack_kernels(Word* to, uint32_t* start, const i32* weights) const {
  const i64 terms = dot_.terms, lanes = dot_.lanes, bits = 32 / terms;
  std::fill_n(to, steps() * lanes, 0U);
  for (i64 r = 0; r < terms; ++r)
    for (i64 row = 0; row < w_.dim(2); ++row)
      for (i64 k = 0; k < w_.dim(3); ++k) {
        const auto w =
            static_cast<Word>(weights[r * w_.stride[0] + row * w_.stride[2] + k * w_.stride[3]]);
        to[(row * line_steps() + k / terms) * lanes + r] |= (w & ((1U << bits) - 1))
            << (k % terms * bits);
        start[r] -= static_cast<uint32_t>(dot_.offset) * w;
      }
  for (i64 l = terms; l < lanes; ++l) start[l] = start[l - terms];
  for (i64 k = 0; k < steps(); ++k, to += lanes)
    for (i64 l = terms; l < lanes; ++l) to[l] = to[l - terms];
}

// Computes the start values where the bias is no constant.
void TunedConv2d::add_bias(uint32_t* to, const uint32_t* start, const i32* bias) const {
  const i64 words = start_words(), lanes = way_ == Way::depthwise ? dot_.lanes : 1;
  for (i64 k = 0; k < y_.dim(1) * words; ++k) {
    const i64 output = k / lanes * lanes / words + k % lanes % dot_.terms;
    to[k] = start[k] + static_cast<uint32_t>(bias[output * bias_.stride[0]]);
  }
}

const i32* TunedConv2d::image(const Run& run, i64 unit) const {
  const i64 channel = unit % groups_ * group_inputs_;
  return run.x + unit / groups_ * x_.stride[0] + channel / x_terms_ * x_.stride[1];
}

void TunedConv2d::pack_block(const Run& run, const Block& b) const {
  const i64 lines = patch_.lines(), planes = patch_.planes();
  const i64 parts = ceil_div(lines, kLinesPerItem);
  const i64 cells = min(lines, kLinesPerItem) * patch_.line_cells();
  const double part_ns = kPackNs * static_cast<double>(cells * dot_.terms);
  pool_->run(b.units * planes * parts, part_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 unit = i / (planes * parts), line = i % parts * kLinesPerItem;
      patch_.pack_lines(run.patch + unit * patch_.words(), x_, image(run, b.unit + unit),
          i / parts % planes, line, min(line + kLinesPerItem, lines), b.row, b.column);
    }
  });
}

// A slot may continue from one row of outputs into the next, over the cells between them, or slots
// begin anew in every row. The pitch is the number of lanes from one row to the next.
i64 TunedConv2d::slot_pitch(const Block& b) const {
  const i64 aligned = ceil_div(b.columns, dot_.lanes) * dot_.lanes, pitch = patch_.pitch();
  const i64 slots = ceil_div((b.rows - 1) * pitch + b.columns, dot_.lanes);
  return slots < b.rows * aligned / dot_.lanes ? pitch : aligned;
}

// Pixels are better where many lanes would lie between rows of outputs or beyond the last row.
bool TunedConv2d::are_pixels_better() const {
  if (dot_.block || !dot_.pixel_tile || (way_ != Way::blocks && way_ != Way::in_place) ||
      group_outputs_ % dot_.lanes != 0 || (y_.stride[3] != 1 && y_.dim(3) > 1))
    return false;
  const Block b{0, 1, 0, patch_.rows(), 0, patch_.columns()};
  return 100 * b.rows * b.columns < kBusyPercent * slots(b) * dot_.lanes;
}

// Each item of parallel work computes some output channels of one unit at a few slots.
void TunedConv2d::compute(const Run& run, const Block& b) const {
  const i64 slots = this->slots(b), width = even_part(slots, dot_.slots);
  const i64 widths = ceil_div(slots, width);
  const i64 chunks = ceil_div(group_outputs_, outputs_per_item_);
  const double item_ns = dot_ns(dot_, outputs_per_item_ * width * dot_.lanes, steps() * dot_.terms);
  pool_->run(b.units * chunks * widths, item_ns, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 unit = i / (chunks * widths), first = i / widths % chunks * outputs_per_item_;
      const i64 slot = i % widths * width;
      Placement at;
      at.slots = static_cast<int>(min(width, slots - slot));
      place(run, b, unit, slot, at);
      multiply(
          run, at, b.unit + unit, first, min(outputs_per_item_, group_outputs_ - first), slot == 0);
    }
  });
}

// Each item of parallel work computes some output channels of one unit at a few outputs of a row.
void TunedConv2d::compute_pixels(const Run& run, const Block& b) const {
  const i64 width = even_part(b.columns, dot_.rows), across = ceil_div(b.columns, width);
  const i64 chunks = ceil_div(group_outputs_, outputs_per_item_), places = b.rows * across;
  const double item_ns = dot_ns(dot_, outputs_per_item_ * width, steps() * dot_.terms);
  pool_->run(b.units * chunks * places, item_ns, [&](i64 begin, i64 end) {
    Placement at;
    at.slots = 1;
    for (i64 i = begin; i < end; ++i) {
      const i64 unit = i / (chunks * places), first = i / places % chunks * outputs_per_item_;
      const i64 row = i % places / across, column = i % across * width;
      at.piece[0] = {(b.row + row) * y_.stride[2] + b.column + column, 0,
          static_cast<int32_t>(min(width, b.columns - column))};
      at.slot[0] = {
          cells(run, b, unit) + (row * patch_.pitch() + column) * kWordBytes, at.piece, 1};
      multiply(run, at, b.unit + unit, first, min(outputs_per_item_, group_outputs_ - first));
    }
  });
}

const uint8_t* TunedConv2d::cells(const Run& run, const Block& b, i64 unit) const {
  return way_ == Way::in_place
      ? reinterpret_cast<const uint8_t*>(image(run, b.unit + unit))
      : reinterpret_cast<const uint8_t*>(run.patch + unit * patch_.words());
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
    slot.cells = cells(run, b, unit) + (row * patch_.pitch() + column) * kWordBytes;
    slot.pieces = piece;
    for (i64 l = 0; l < dot_.lanes && row < b.rows; l += pitch - column, column = 0, ++row)
      if (const i64 n = min(dot_.lanes - l, b.columns - column); n > 0)
        *piece++ = {(b.row + row) * y_.stride[2] + (b.column + column) * y_.stride[3],
            static_cast<int32_t>(l), static_cast<int32_t>(n)};
    slot.piece_count = static_cast<int32_t>(piece - slot.pieces);
  }
}

void TunedConv2d::multiply(
    const Run& run, const Placement& at, i64 unit, i64 first, i64 count, bool are_far) const {
  const i64 channel = unit % groups_ * group_outputs_ + first;
  i32* y = run.y + unit / groups_ * y_.stride[0];
  const View& added = fusion_.added;
  const i32* addend = run.added ? run.added + unit / groups_ * added.stride[0] : nullptr;
  const i64 at_once = dot_.block && at.lane_stride == 1 ? count : height_;
  for (i64 o = channel; o < channel + count; o += at_once) {
    const i64 height = min(at_once, channel + count - o);
    Tile tile{run.rows + o * output_words(), run.starts + o, nullptr, offsets_.data(), steps(),
        at.slot, {y + o / y_terms_ * y_.stride[1], y_.stride[1], fusion_.writes == Form::cells},
        fusion_.finish ? &*fusion_.finish : nullptr};
    if (addend)
      tile.added = {const_cast<i32*>(addend) + o / added_terms_ * added.stride[1], added.stride[1],
          fusion_.adds == Form::cells};
    tile.chunks = {depth_, strides_.data(), height_ * output_words(), height_, are_far};
    if (by_pixels_)
      dot_.pixel_tile[int64_t{at.piece[0].count - 1} * dot_.slots + height / dot_.lanes - 1](tile);
    else
      run_tile(dot_, tile, static_cast<int>(height), at);
  }
}

void TunedConv2d::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  const i32* const bias = bias_.rank() > 0 ? in[Conv2d::B] : nullptr;
  const auto* weights = reinterpret_cast<const Word*>(constant_.data());
  Run run{in[Conv2d::X], out[0], fusion_.finish && fusion_.finish->adds ? in[added_port_] : nullptr,
      weights, weights, static_cast<Word*>(scratch)};
  if (constant_.empty()) {
    pack_weights(run.patch, {in[Conv2d::W]}, bias);
    run.starts = run.patch;
    run.rows = run.patch + starts();
    run.patch += weight_words();
  } else {
    run.rows += starts();
    if (bias) {
      add_bias(run.patch, weights, bias);
      run.starts = run.patch;
      run.patch += starts();
    }
  }
  if (way_ == Way::lines || way_ == Way::depthwise) return run_by_lines(run);
  const i64 units = y_.dim(0) * groups_, height = y_.dim(2), width = y_.dim(3);
  Block b{};
  for (b.unit = 0; b.unit < units; b.unit += units_per_block_)
    for (b.row = 0; b.row < height; b.row += patch_.rows())
      for (b.column = 0; b.column < width; b.column += patch_.columns()) {
        b.units = min(units_per_block_, units - b.unit);
        b.rows = min(patch_.rows(), height - b.row);
        b.columns = min(patch_.columns(), width - b.column);
        if (way_ == Way::blocks) pack_block(run, b);
        by_pixels_ ? compute_pixels(run, b) : compute(run, b);
      }
}

// Serves depthwise calls and those with few outputs in a group: an item of parallel work packs a
// block of one unit, in the first cache, and computes its outputs.
void TunedConv2d::run_by_lines(const Run& run) const {
  const i64 rows = ceil_div(y_.dim(2), patch_.rows());
  const i64 columns = ceil_div(y_.dim(3), patch_.columns());
  const i64 products = patch_.rows() * patch_.columns() * steps() * group_outputs_;
  const double item_ns = kPackNs * static_cast<double>(patch_.words() * dot_.terms + products);
  pool_->run(y_.dim(0) * groups_ * rows * columns, item_ns, [&](i64 begin, i64 end) {
    alignas(64) Word patch[kLinesBytes / kWordBytes + kLanesMax];
    Block b{0, 1, 0, 0, 0, 0};
    for (i64 i = begin; i < end; ++i) {
      b.unit = i / (rows * columns);
      b.row = i / columns % rows * patch_.rows();
      b.column = i % columns * patch_.columns();
      b.rows = min(patch_.rows(), y_.dim(2) - b.row);
      b.columns = min(patch_.columns(), y_.dim(3) - b.column);
      for (i64 p = 0; p < patch_.planes(); ++p)
        patch_.pack_lines(patch, x_, image(run, b.unit), p, 0, patch_.lines(), b.row, b.column);
      way_ == Way::lines ? multiply_lines(run, b, patch) : multiply_depthwise(run, b, patch);
    }
  });
}

void TunedConv2d::multiply_lines(const Run& run, const Block& b, const Word* patch) const {
  i32* y = run.y + b.unit / groups_ * y_.stride[0] + b.row * y_.stride[2] + b.column;
  Lines lines{nullptr, 0, offsets_.data(), steps(), reinterpret_cast<const uint8_t*>(patch), b.rows,
      b.columns, patch_.pitch() * kWordBytes, nullptr, y_.stride[2],
      fusion_.finish ? &*fusion_.finish : nullptr};
  for (i64 k = 0; k < group_outputs_; ++k) {
    const i64 o = b.unit % groups_ * group_outputs_ + k;
    lines.row = run.rows + o * output_words();
    lines.start = run.starts[o];
    lines.to = y + o * y_.stride[1];
    dot_.lines(lines);
  }
}

void TunedConv2d::multiply_depthwise(const Run& run, const Block& b, const Word* patch) const {
  const i64 first = b.unit % groups_ * group_outputs_;
  i32* y = run.y + b.unit / groups_ * y_.stride[0] + first / y_terms_ * y_.stride[1] +
      b.row * y_.stride[2] + b.column;
  dot_.depthwise(
      {run.rows + first * output_words(), run.starts + first * start_words(), offsets_.data(),
          w_.dim(2), line_steps(), is_dense_, reinterpret_cast<const uint8_t*>(patch), b.rows,
          b.columns, patch_.pitch() * kWordBytes, {y, y_.stride[1], fusion_.writes == Form::cells},
          y_.stride[2], fusion_.finish ? &*fusion_.finish : nullptr});
}

}  // namespace

std::unique_ptr<Plan> conv2d_plan(const Arguments& a, const Kernel& kernel, const DotKernels& dot) {
  if (a.fusion.uses(Form::pixels)) return pixel_conv2d_plan(a, kernel, dot);
  const auto attrs = from_attributes<Conv2d>(a.call.attributes());
  if (Arguments product = a; become_dense(product, attrs))
    return a.fusion.uses(Form::cells) ? nullptr : dense_plan(product, kernel, dot);
  const std::optional<Design> design = design_of(a, attrs, dot);
  if (!design) return nullptr;
  if (dot.block && !suits_blocks(*design)) return conv2d_plan(a, kernel, *dot.few_rows);
  return std::make_unique<TunedConv2d>(a, kernel, dot, attrs, *design);
}

std::vector<Kernel> conv2d_kernels() { return dot_kernels<Conv2d>(conv2d_plan); }

}  // namespace lockstep::cpu
