/// @file
/// conv2d with constant weights whose outputs or inputs lie as pixels. A block of outputs reads
/// lines in which the pixels of neighbouring outputs are equally far apart, also from one line to
/// the next. The lines are the image itself, a copy with padding or, for few channels, records: for
/// each column of the image, all values that a column of the kernel multiplies. dense is such a
/// product of images with one line, whose places are the rows of its matrices.
#include <algorithm>
#include <cstring>

#include "backends/cpu/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBlockBytesMax = i64{8} << 20;
constexpr i64 kInPlaceWordsMax = i64{1} << 28;  // of an image: offsets in bytes have 31 bits
constexpr i64 kCellChannels = 32;               // of cells that are read, at least
constexpr i64 kItemSlots = 4;                   // of an item of parallel work
constexpr i64 kLeastHeight = 5;                 // of slots that keep a processor busy
constexpr i64 kPixelBytes = kPixelChannels, kTile = kPixelWords;

enum class Source { in_place, padded, records };

/// The lines that a block of outputs reads.
struct SourceLines {
  Source source = Source::padded;
  i64 record = 0;              ///< bytes
  i64 pixel = 0, pitch = 0;    ///< bytes between neighbouring outputs, and outputs to a line
  i64 planes = 1, phases = 1;  ///< of the lines
  i64 rows = 1;                ///< of a block's outputs
  i64 reach = 0;               ///< lines of a phase below those of the first tap
  i64 after = kPixelBytes;     ///< bytes that taps may read behind the last line of a plane

  i64 line() const { return pitch * pixel; }
  i64 phase_lines() const { return rows + reach; }
  i64 plane() const { return phases * phase_lines() * line() + after; }
  i64 bytes() const { return source == Source::in_place ? 0 : planes * plane(); }
};

/// Whether outputs, and sums to which a tensor is added, have eight bits, and no shift follows the
/// addition.
bool fits_bytes(const Finish& f) {
  const auto fits = [](const Rescale& r) { return r.low >= INT8_MIN && r.high <= INT8_MAX; };
  return fits(f.sum) && (!f.adds || (fits(f.total) && f.total.shift == 0));
}

bool are_rows(const auto& v) {
  return (v.stride[3] == 1 || v.dim(3) == 1) && (v.stride[2] == v.dim(3) || v.dim(2) == 1);
}

/// A call of conv2d or dense, as a convolution of images.
struct ImageCall {
  Conv2dAttrs attrs;
  View x, w;
  Out y;
  Fusion fusion;
  bool is_dense = false;
};

ImageCall image_call(const Arguments& a) {
  ImageCall c{{}, a.call.in[Conv2d::X], a.call.in[Conv2d::W], a.call.out[0], a.fusion};
  if (a.call.op->name == Conv2d::name) {
    c.attrs = from_attributes<Conv2d>(a.call.attributes());
    return c;
  }
  c.is_dense = true;
  c.attrs.kernel_size = {1, 1};
  c.attrs.use_bias = a.call.in.size() == 3;
  if (c.fusion.reads == Form::rows) become_image(c.x), c.fusion.reads = Form::places;
  if (c.fusion.writes == Form::rows) become_image(c.y), c.fusion.writes = Form::places;
  c.w.shape = {c.w.dim(0), c.w.dim(1), 1, 1};
  return c;
}

/// Whether the channels of a place are neighbours in memory, and a multiple of kPixelChannels.
bool are_places(const auto& v) { return v.stride[1] == 1 && v.dim(1) % kPixelChannels == 0; }

/// Whether weights are constants, and pixels can serve what the call reads and writes.
bool has_pixels(const Arguments& a, const ImageCall& c) {
  const Fusion& f = c.fusion;
  return (f.reads != Form::cells || c.x.dim(1) >= kCellChannels) && c.attrs.groups == 1 &&
      c.y.dim(1) % kPixelChannels == 0 && (f.writes != Form::rows || are_rows(c.y)) &&
      (f.reads != Form::rows || are_rows(c.x)) && (f.writes != Form::places || are_places(c.y)) &&
      (f.reads != Form::places || are_places(c.x)) && a.constants[Conv2d::W] &&
      (!c.attrs.use_bias || a.constants[Conv2d::B]) && f.finish && fits_bytes(*f.finish) &&
      (!f.finish->adds || (f.adds == Form::pixels && f.writes != Form::places));
}

/// The lines that a call reads; none where pixels do not serve the call with its fusion.
std::optional<SourceLines> lines_of(const Arguments& a, const ImageCall& c, const DotKernels& dot) {
  if (!dot.pixels || !has_pixels(a, c)) return std::nullopt;
  // With fewer rows, the product waits for the weights, whatever multiplies them.
  if (c.is_dense && c.y.dim(3) < dot.pixels->rows) return std::nullopt;
  const Conv2dAttrs& attrs = c.attrs;
  const View& x = c.x;
  const Out& y = c.y;
  const Tuple &taps = attrs.kernel_size, &stride = attrs.strides, &apart = attrs.dilation;
  SourceLines l{.pixel = stride[1] * kPixelBytes, .rows = y.dim(2)};
  if (c.fusion.reads == Form::rows) {
    l.record = ceil_div(taps[0] * x.dim(1), dot.terms) * dot.terms;
    if (l.record > i64{kRecordWords} * dot.terms || apart[1] != 1) return std::nullopt;
    l.source = Source::records;
    l.pixel = stride[1] * l.record;
    l.pitch = y.dim(3) - 1 + ceil_div(taps[1], stride[1]);
  } else {
    l.planes = ceil_div(x.dim(1), kPixelChannels);
    if (c.fusion.reads == Form::pixels && taps == Tuple{1, 1} && stride == Tuple{1, 1} &&
        attrs.padding == Tuple{0, 0}) {
      l.source = Source::in_place;
      l.pitch = x.dim(3);
      if (l.planes * x.stride[1] > kInPlaceWordsMax) return std::nullopt;
      return l;
    }
    // The padding before a line is also the padding after the line before it.
    l.pitch = max(y.dim(3), ceil_div(x.dim(3) + attrs.padding[1], stride[1]));
    l.after = attrs.padding[1] * kPixelBytes;
    l.phases = taps[0] == 1 || apart[0] % stride[0] == 0 ? 1 : stride[0];
    l.reach = (taps[0] - 1) * apart[0] / stride[0];
  }
  const i64 room = scratch_most(a.call);
  const i64 lines = min(kPatchBytes, room) / (l.planes * l.phases * l.line()) - l.reach;
  l.rows = even_part(y.dim(2), clamp(lines, 1, y.dim(2)));
  return l.bytes() <= min(kBlockBytesMax, room) ? std::optional(l) : std::nullopt;
}

class PixelConv2d : public KernelPlan {
 public:
  PixelConv2d(const Arguments& a, const Kernel& kernel, const DotKernels& dot, const ImageCall& c,
      const SourceLines& lines)
      : KernelPlan(kernel.name, a.pool),
        dot_(dot),
        attrs_(c.attrs),
        lines_(lines),
        x_(c.x),
        w_(c.w),
        y_(c.y),
        fusion_(c.fusion),
        added_port_(a.call.in.size()) {
    lay_out_chunks();
    outputs_per_item_ = outputs_of_item(
        outputs(), kPixelChannels, chunks() * kPixelBytes, plan_slots(lines_.rows).items(), *pool_);
    start_.resize(static_cast<std::size_t>(outputs()));
    weights_ = Packed(outputs() * chunks() * kPixelBytes);
    const i32* const bias = attrs_.use_bias ? a.constants[Conv2d::B].wide : nullptr;
    const i64 apart = bias ? a.call.in[Conv2d::B].stride[0] : 0;
    const auto half = static_cast<uint32_t>(fusion_.finish->sum.half);
    pool_->run(outputs(), 8 * kPackNs * static_cast<double>(chunks() * kPixelBytes),
        [&](i64 begin, i64 end) {
          std::vector<i32> room;
          for (i64 o = begin; o < end; ++o)
            pack_output(o, a.constants[Conv2d::W].values(o * w_.stride[0], w_.stride[0], room),
                half + (bias ? static_cast<uint32_t>(bias[o * apart]) : 0));
        });
  }

  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    auto* const lines = static_cast<uint8_t*>(scratch);
    for (i64 n = 0; n < y_.dim(0); ++n) {
      const i32* const x = in[Conv2d::X] + n * x_.stride[0];
      const Images images{out[0] + n * y_.stride[0],
          fusion_.finish->adds ? in[added_port_] + n * fusion_.added.stride[0] : nullptr};
      for (i64 row = 0; row < y_.dim(2); row += lines_.rows) {
        if (lines_.source != Source::in_place) pack_lines(lines, x, row);
        compute(lines_.source == Source::in_place ? reinterpret_cast<const uint8_t*>(x) : lines,
            images, row, min(lines_.rows, y_.dim(2) - row));
      }
    }
  }
  uint64_t scratch_bytes() const override { return static_cast<uint64_t>(lines_.bytes()); }
  bool works_in_place(std::size_t input) const override {
    return input == added_port_ && adds_in_place(fusion_, y_);
  }

 private:
  struct Images {
    i32* y;
    const i32* added;
  };
  /// The slots of an item.
  struct Slots {
    Slot slot[kPixelSlots];
    Piece piece[i64{kPixelSlots} * kPixelRows];
  };

  i64 chunks() const { return static_cast<i64>(offsets_.size()); }
  i64 outputs() const { return y_.dim(1); }

  void lay_out_chunks() {
    const Tuple &taps = attrs_.kernel_size, &apart = attrs_.dilation;
    const i64 plane = lines_.source == Source::in_place ? x_.stride[1] * 4 : lines_.plane();
    if (lines_.source == Source::records) {
      for (i64 at = 0; at < taps[1] * lines_.record; at += kPixelBytes)
        offsets_.push_back(static_cast<int32_t>(at));
      last_steps_ = ceil_div(taps[1] * lines_.record - offsets_.back(), i64{dot_.terms});
      return;
    }
    for (i64 p = 0; p < lines_.planes; ++p)
      for (i64 r = 0; r < taps[0]; ++r)
        for (i64 c = 0; c < taps[1]; ++c) {
          const i64 row = r * apart[0], step = attrs_.strides[0];
          const i64 line = row % step * lines_.phase_lines() + row / step;
          offsets_.push_back(
              static_cast<int32_t>(p * plane + line * lines_.line() + c * apart[1] * kPixelBytes));
        }
  }

  // Packs weights for two tiles together, as PixelBlock has them: [chunk][tile][step][column].
  void pack_output(i64 output, const i32* weights, uint32_t start) {
    const auto o = static_cast<int>(output % kPixelChannels);
    const i64 panel = output - o, tile = pixel_tile_of(o), column = pixel_column_of(o);
    const i64 terms = dot_.terms, step = kTile * terms;
    auto* to = reinterpret_cast<int8_t*>(weights_.data()) +
        ((panel + tile / 2 * 2 * kTile) * chunks() + tile % 2 * kTile) * kPixelBytes +
        column * terms;
    const auto put = [&](i64 k, i32 w) {
      to[k / terms * step + k % terms] = static_cast<int8_t>(w);
      start -= static_cast<uint32_t>(dot_.offset) * static_cast<uint32_t>(w);
    };
    for (i64 c = 0; c < chunks(); ++c, to += 2 * kTile * kPixelBytes) {
      for (i64 k = 0; k < kPixelBytes; k += terms)
        std::memset(to + k / terms * step, 0, sizeof(Word));
      lines_.source == Source::records ? put_records(weights, c, put) : put_tap(weights, c, put);
    }
    start_[static_cast<std::size_t>(panel + tile * kTile + column)] = start;
  }
  // Puts the weights of a tap, which multiply a chunk's channels.
  void put_tap(const i32* weights, i64 chunk, const auto& put) const {
    const i64 columns = w_.dim(3), taps = w_.dim(2) * columns;
    const i64 first = chunk / taps * kPixelChannels, count = min(w_.dim(1) - first, kPixelBytes);
    weights += first * w_.stride[1] + chunk % taps / columns * w_.stride[2] +
        chunk % columns * w_.stride[3];
    for (i64 k = 0; k < count; ++k) put(k, weights[k * w_.stride[1]]);
  }
  // Puts the weights that multiply a chunk's part of the records of a window.
  void put_records(const i32* weights, i64 chunk, const auto& put) const {
    for (i64 k = 0; k < kPixelBytes; ++k) {
      const i64 at = chunk * kPixelBytes + k, column = at / lines_.record;
      const i64 row = at % lines_.record / w_.dim(1), channel = at % lines_.record % w_.dim(1);
      if (row < w_.dim(2) && column < w_.dim(3))
        put(k, weights[channel * w_.stride[1] + row * w_.stride[2] + column * w_.stride[3]]);
    }
  }

  void pack_lines(uint8_t* to, const i32* x, i64 row) const {
    const i64 lines = lines_.phases * lines_.phase_lines();
    pool_->run(lines_.planes * lines, kPackNs * static_cast<double>(lines_.line()),
        [&](i64 begin, i64 end) {
          for (i64 i = begin; i < end; ++i) {
            const i64 plane = i % lines_.planes, l = i / lines_.planes;
            const i64 from = (row + l % lines_.phase_lines()) * attrs_.strides[0] +
                l / lines_.phase_lines() - attrs_.padding[0];
            uint8_t* const line = to + plane * lines_.plane() + l * lines_.line();
            lines_.source == Source::records ? pack_records(line, x, from)
                                             : pad_line(line, x, plane, from, l + 1 == lines);
          }
        });
  }
  void pack_records(uint8_t* to, const i32* x, i64 row) const {
    dot_.pixels->records({to, x, x_.stride[1], x_.stride[2], x_.dim(1), x_.dim(2), x_.dim(3), row,
        attrs_.dilation[0], w_.dim(2), -attrs_.padding[1], lines_.pitch * attrs_.strides[1],
        lines_.record / dot_.terms});
  }
  void pad_line(uint8_t* to, const i32* x, i64 plane, i64 row, bool is_last) const {
    const i64 before = attrs_.padding[1] * kPixelBytes;
    const i64 bytes = lines_.line() + (is_last ? lines_.after : 0);
    const bool is_inside = row >= 0 && row < x_.dim(2);
    const i64 inside = is_inside ? min(x_.dim(3) * kPixelBytes, bytes - before) : 0;
    const auto fill = [&](i64 from, i64 end) {
      if (from < end) std::memset(to + from, dot_.offset, static_cast<std::size_t>(end - from));
    };
    if (inside > 0) put_pixels(to + before, x + row * x_.stride[2], plane, inside);
    fill(0, min(before, bytes));
    fill(before + inside, bytes);
  }
  void put_pixels(uint8_t* to, const i32* row, i64 plane, i64 bytes) const {
    if (fusion_.reads == Form::pixels) {
      std::memcpy(to, row + plane * x_.stride[1], static_cast<std::size_t>(bytes));
      return;
    }
    if (fusion_.reads == Form::places) {
      dot_.pack_cells(to, row + plane * kPixelChannels,
          {bytes / kPixelBytes, kPixelWords, dot_.terms, x_.stride[3], dot_.terms, 1, kPixelBytes});
      return;
    }
    const i64 first = plane * kPixelWords, planes = ceil_div(x_.dim(1), dot_.terms) - first;
    dot_.pixels->widen({to, row + first * x_.stride[1], x_.stride[1], min(planes, i64{kPixelWords}),
        bytes / kPixelBytes});
  }

  /// Where the slots of a block lie: each continues from one row of outputs into the next, over the
  /// pixels between them, or stays in its row. Slots of equal heights are multiplied two at a time.
  struct SlotPlan {
    i64 places, height, count;
    i64 in_row;    ///< slots in a row; 0 if they continue
    i64 per_item;  ///< of parallel work
    i64 items() const { return ceil_div(count, per_item); }
  };
  SlotPlan plan_slots(i64 rows) const {
    const i64 places = (rows - 1) * lines_.pitch + y_.dim(3), most = dot_.pixels->rows;
    const i64 slots = ceil_div(places, most);
    const i64 in_row = ceil_div(y_.dim(3), most), height = ceil_div(y_.dim(3), in_row);
    if (!dot_.pixels->are_equal && rows * in_row * max(height, kLeastHeight) < places)
      return {places, height, rows * in_row, in_row, even_part(rows * in_row, kItemSlots)};
    const i64 in_pairs = dot_.pixels->are_equal && slots > 1 ? slots + slots % 2 : slots;
    const i64 high = ceil_div(places, in_pairs), count = ceil_div(places, high);
    const i64 part = even_part(count, kItemSlots);
    return {places, high, count, 0, dot_.pixels->are_equal ? part + part % 2 : part};
  }

  // An item of parallel work is a part of the outputs at a few slots; items that follow each other
  // are computed at once. While all weights stay cached, the parts of some slots follow each other,
  // so that a thread mostly reads pixels that it wrote itself.
  void compute(const uint8_t* lines, const Images& images, i64 row, i64 rows) const {
    const SlotPlan s = plan_slots(rows);
    const i64 width = s.per_item, widths = s.items();
    const i64 parts = ceil_div(outputs(), outputs_per_item_);
    const bool by_place = parts > 1 && outputs() * chunks() * kPixelBytes <= kWeightBytes;
    const double ns = dot_ns(dot_, outputs_per_item_ * width * s.height, chunks() * kPixelBytes);
    pool_->run(parts * widths, ns, [&](i64 begin, i64 end) {
      Slots some;
      for (i64 i = begin, n; i < end; i += n) {
        const i64 at = by_place ? i / parts : i % widths, part = by_place ? i % parts : i / widths;
        n = by_place ? min(end - i, parts - part)
                     : even_part(min(end - i, widths - at), kPixelSlots / width);
        const i64 slots = by_place ? width : n * width, outputs = by_place ? n : 1;
        const i64 count = min(slots, s.count - at * width);
        place_slots(some, s, lines, row, at * width, count);
        multiply(some, count, s.height, images, part * outputs_per_item_,
            outputs * outputs_per_item_, at == 0);
      }
    });
  }

  // All slots have equal heights; the last one that continues also reads some pixels whose outputs
  // another slot writes.
  void place_slots(
      Slots& some, const SlotPlan& s, const uint8_t* lines, i64 row, i64 first, i64 count) const {
    Piece* piece = some.piece;
    for (i64 k = 0; k < count; ++k) {
      const i64 line = s.in_row ? (first + k) / s.in_row * lines_.pitch : 0;
      const i64 end_of_line = s.in_row ? line + y_.dim(3) : s.places;
      const i64 at = line + (s.in_row ? (first + k) % s.in_row : first + k) * s.height;
      const i64 from = min(at, end_of_line - s.height);
      some.slot[k].cells = lines + from * lines_.pixel;
      piece = place(some.slot[k], piece, row, from, at, min(at + s.height, end_of_line));
    }
  }

  /// Assigns the outputs `first` .. `last` - 1 to a slot whose pixels begin at `from`.
  Piece* place(Slot& slot, Piece* piece, i64 row, i64 from, i64 first, i64 last) const {
    Piece* const begin = piece;
    slot.pieces = begin;
    for (i64 at = first, end; at < last; at = end) {
      const i64 line = at / lines_.pitch, column = at % lines_.pitch;
      end = min(last, (line + 1) * lines_.pitch);
      if (const i64 n = min(end - at, y_.dim(3) - column); n > 0)
        *piece++ = {(row + line) * y_.stride[2] + column * y_.stride[3],
            static_cast<int32_t>(at - from), static_cast<int32_t>(n)};
    }
    slot.piece_count = static_cast<int32_t>(piece - slot.pieces);
    if (!dot_.pixels->are_equal && slot.piece_count > 0) {
      const int32_t skipped = slot.pieces->first;
      slot.cells += skipped * lines_.pixel;
      std::for_each(begin, piece, [&](Piece& p) { p.first -= skipped; });
    }
    return piece;
  }

  void multiply(const Slots& some, i64 slots, i64 height, const Images& images, i64 first,
      i64 count, bool are_far) const {
    const View& added = fusion_.added;
    const Form form = fusion_.writes;
    const i64 rows = form == Form::pixels ? kPixelChannels : form == Form::cells ? dot_.terms : 1;
    const i64 apart = form == Form::places ? kPixelChannels : y_.stride[1];
    const Surface to{images.y + first / rows * y_.stride[1], apart, false};
    Surface from{nullptr, 0, true};
    if (images.added)
      from = {const_cast<i32*>(images.added) + first / kPixelChannels * added.stride[1],
          added.stride[1], true};
    dot_.pixels->block({weights_.data() + first * chunks() * kPixelBytes, start_.data() + first,
        offsets_.data(), chunks(), min(count, outputs() - first), last_steps_, lines_.pixel,
        some.slot, static_cast<int>(slots), static_cast<int>(height), form, y_.stride[3], to, from,
        &*fusion_.finish, are_far ? static_cast<int>(ceil_div(kTile * 2, ceil_div(slots, 2))) : 0});
  }

  const DotKernels& dot_;
  Conv2dAttrs attrs_;
  SourceLines lines_;
  View x_, w_;
  Out y_;
  Fusion fusion_;
  std::size_t added_port_;
  i64 outputs_per_item_ = 0, last_steps_ = kTile;
  std::vector<int32_t> offsets_;  // of chunks
  std::vector<uint32_t> start_;
  Packed weights_;
};

}  // namespace

bool pixel_conv2d_serves(const Arguments& a, const DotKernels& dot) {
  return lines_of(a, image_call(a), dot).has_value();
}

std::unique_ptr<Plan> pixel_conv2d_plan(
    const Arguments& a, const Kernel& kernel, const DotKernels& dot) {
  const ImageCall call = image_call(a);
  const std::optional<SourceLines> lines = lines_of(a, call, dot);
  if (!lines) return nullptr;
  return std::make_unique<PixelConv2d>(a, kernel, dot, call, *lines);
}

}  // namespace lockstep::cpu
