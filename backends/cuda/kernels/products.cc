// The plans of conv2d and dense.
#include "backends/cuda/kernels/products.h"

#include <algorithm>
#include <optional>

#include "backends/cuda/families.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kBytesMax = i64{1} << 30;      // of packed images and of packed weights
constexpr i64 kPaddingBytes = i64{1} << 22;  // of images that are mostly padding
constexpr i64 kFewChannels = 8;              // that sixteen bytes would leave mostly empty
constexpr i64 kSmallGroup = 16;              // channels
constexpr i64 kFewColumns = 32;
constexpr i64 kSplitPanels = 4, kSplitsMax = 32;  // at least of each part; parts

/// A call as a convolution. A matrix is a list of images of one position.
struct Layer {
  i64 images, groups, inputs, outputs;  ///< channels of a group
  i64 height, width, lines, columns;    ///< of X and of Y
  i64 taps[2]{1, 1}, stride[2]{1, 1}, padding[2]{0, 0}, dilation[2]{1, 1};
  i64 xs[4]{}, ws[4]{}, ys[4]{}, bias_stride = 0;
  bool has_bias = false;

  i64 positions() const { return lines * columns; }
  i64 padded(int d) const { return (d == 0 ? height : width) + 2 * padding[d]; }
};

void take_strides(Layer& l, const backend::LegalCall& call) {
  std::copy_n(call.in[0].stride, call.in[0].rank(), l.xs);
  std::copy_n(call.in[1].stride, call.in[1].rank(), l.ws);
  std::copy_n(call.out[0].stride, call.out[0].rank(), l.ys);
  l.has_bias = call.in.size() == 3;
  if (l.has_bias) l.bias_stride = call.in[2].stride[0];
}

Layer layer_of(const Conv2dAttrs& a, const backend::LegalCall& call) {
  const View& x = call.in[Conv2d::X];
  const Out& y = call.out[0];
  Layer l{.images = x.dim(0),
      .groups = a.groups,
      .inputs = x.dim(1) / a.groups,
      .outputs = a.channels / a.groups,
      .height = x.dim(2),
      .width = x.dim(3),
      .lines = y.dim(2),
      .columns = y.dim(3)};
  for (int d = 0; d < 2; ++d) {
    l.taps[d] = a.kernel_size[d];
    l.stride[d] = a.strides[d];
    l.padding[d] = a.padding[d];
    l.dilation[d] = a.dilation[d];
  }
  take_strides(l, call);
  return l;
}

Layer layer_of(const DenseAttrs& a, const backend::LegalCall& call) {
  const View& x = call.in[Dense::X];
  Layer l{x.dim(0), 1, x.dim(1), a.units, 1, 1, 1, 1};
  take_strides(l, call);
  return l;
}

/// A tile and its kernels.
struct Variant {
  i64 rows, columns;
  void (*wide)(i64, const ProductParameters&, cudaStream_t);
  void (*narrow)(i64, const ProductParameters&, cudaStream_t);
};
template <class T> constexpr Variant variant() {
  return {T::kRows, T::kColumns, start<MatrixProduct<T, 16>>, start<MatrixProduct<T, 4>>};
}

i64 tiles(const Variant& v, const Layer& l) {
  return ceil_div(l.outputs, v.rows) * ceil_div(l.images * l.positions(), v.columns) * l.groups;
}

/// The largest tile of which there are enough to keep the device busy.
Variant variant_of(const Layer& l, i64 processors) {
  if (l.images * l.positions() <= kFewColumns) return variant<ThinTile>();
  constexpr Variant kLarge = variant<LargeTile>();
  const bool fills_tile = l.outputs > kLarge.rows / 2 && l.images * l.positions() > kLarge.columns;
  return fills_tile && tiles(kLarge, l) >= processors ? kLarge : variant<SmallTile>();
}

class Products : public DevicePlan {
 public:
  Products(const Arguments& a, const char* name, const Layer& l)
      : name_(name), device_(a.device), l_(l), v_(variant_of(l, a.device->processors())) {
    const i64 grain = l.inputs > kFewChannels ? 16 : 4;
    is_wide_ = grain == 16;
    p_.rows = static_cast<u32>(l.outputs);
    p_.columns = static_cast<u32>(l.images * l.positions());
    p_.row_tiles = static_cast<u32>(ceil_div(l.outputs, v_.rows));
    p_.column_tiles = static_cast<u32>(ceil_div(p_.columns, v_.columns));
    p_.groups = static_cast<u32>(l.groups);
    p_.window = {Divisor(l.lines), Divisor(l.columns), Divisor(l.taps[1]),
        static_cast<u32>(l.taps[0] * l.taps[1]), {l.stride[0], l.stride[1]},
        {l.dilation[0], l.dilation[1]}};
    p_.layout = {static_cast<u32>(l.padded(0)), static_cast<u32>(l.padded(1)), p_.groups,
        Divisor(ceil_div(l.inputs, grain) * grain / 4), p_.window.taps};
    p_.panels = static_cast<u32>(ceil_div(i64{p_.layout.words()} * 4, Panel::kDepth));
    const i64 parts = min(p_.panels / kSplitPanels, a.device->processors() / tiles(v_, l));
    p_.splits = static_cast<u32>(clamp(parts, 1, kSplitsMax));
    p_.bias_stride = l.bias_stride;
    if (const i32* w = a.constants[1]) keep(w);
  }

  /// Whether packed tensors have sizes that are worth it.
  bool serves() const {
    const i64 cells = cell_bytes(),
              elements = l_.images * l_.groups * l_.inputs * l_.height * l_.width;
    return cells <= min(kBytesMax, 16 * elements + kPaddingBytes) && panel_bytes() <= kBytesMax;
  }

  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    auto* const cells = static_cast<Byte*>(scratch);
    Byte* const panels = cells + cell_bytes();
    device_->use([&] {
      if (!kept_) pack_weights(in[1], panels, on);
      is_wide_ ? pack_images<16>(in[0], cells, on) : pack_images<4>(in[0], cells, on);
      auto* const parts = reinterpret_cast<i32*>(panels + (kept_ ? 0 : panel_bytes()));
      const i32* bias = l_.has_bias ? in[2] : nullptr;
      ProductParameters p = p_;
      p.cells = cells;
      p.weights = kept_ ? static_cast<const Byte*>(kept_->get()) : panels;
      place(p, p.splits == 1 ? out[0] : parts, p.splits == 1 ? bias : nullptr);
      (is_wide_ ? v_.wide : v_.narrow)(tiles(v_, l_) * p.splits, p, on);
      if (p.splits > 1) add_splits(parts, bias, out[0], on);
    });
  }
  const char* path() const override { return name_; }
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(cell_bytes() + (kept_ ? 0 : panel_bytes()) +
        (p_.splits == 1 ? 0 : p_.splits * outputs() * static_cast<i64>(sizeof(i32))));
  }

 private:
  i64 outputs() const { return l_.groups * l_.outputs * p_.columns; }
  i64 cell_bytes() const { return ceil_div(l_.images * p_.layout.image_bytes(), 64) * 64; }
  i64 panel_bytes() const { return l_.groups * p_.row_tiles * p_.panels * v_.rows * Panel::kDepth; }

  /// The output, or the parts of it in row-major order.
  void place(ProductParameters& p, i32* y, const i32* bias) const {
    const i64 rows = l_.groups * l_.outputs,
              compact[] = {rows * l_.positions(), l_.positions(), l_.columns, 1};
    const i64* strides = p.splits == 1 ? l_.ys : compact;
    p.y = y;
    p.bias = bias;
    p.y_split = outputs();
    p.y_group = l_.outputs * strides[1];
    p.y_image = strides[0];
    p.y_row = strides[1];
    p.y_line = strides[2];
    p.y_position = strides[3];
  }

  void keep(const i32* w) {
    if (panel_bytes() > kBytesMax) return;
    kept_ = std::make_unique<DeviceMemory>(device_, panel_bytes());
    device_->use_at_once(
        [&](cudaStream_t stream) { pack_weights(w, static_cast<Byte*>(kept_->get()), stream); });
  }

  void pack_weights(const i32* w, Byte* panels, cudaStream_t stream) const {
    PackWeights::Parameters p{w, panels, static_cast<u32>(panel_bytes() / Panel::kChunk),
        Divisor(v_.rows * Panel::kChunks), Divisor(p_.panels), Divisor(p_.row_tiles),
        static_cast<u32>(v_.rows), p_.rows, p_.layout.words(), static_cast<i32>(l_.inputs),
        p_.layout.group_words, p_.window.taps_wide, {}};
    std::copy_n(l_.ws, 4, p.ws);
    cuda::start<PackWeights>(blocks_for<PackWeights>(p.threads), p, stream);
  }

  template <int kGrain> void pack_images(const i32* x, Byte* cells, cudaStream_t stream) const {
    const i64 grains = p_.layout.group_bytes() / kGrain;
    typename PackImages<kGrain>::Parameters p{x, cells,
        static_cast<u32>(l_.images * p_.layout.image_bytes() / kGrain), Divisor(l_.padded(1)),
        Divisor(l_.padded(0)), Divisor(grains), Divisor(l_.groups), static_cast<i32>(l_.inputs),
        static_cast<i32>(l_.height), static_cast<i32>(l_.width),
        {static_cast<i32>(l_.padding[0]), static_cast<i32>(l_.padding[1])}, {}, false};
    std::copy_n(l_.xs, 4, p.xs);
    const auto is_whole = [](i64 extent, i64 stride) { return extent == 1 || stride % 4 == 0; };
    p.is_aligned = is_aligned(x) && (l_.inputs == 1 || l_.xs[1] == 1) &&
        is_whole(l_.groups, l_.inputs) && is_whole(l_.images, l_.xs[0]) &&
        is_whole(l_.height, l_.xs[2]) && is_whole(l_.width, l_.xs[3]);
    cuda::start<PackImages<kGrain>>(blocks_for<PackImages<kGrain>>(p.threads), p, stream);
  }

  void add_splits(const i32* parts, const i32* bias, i32* y, cudaStream_t stream) const {
    const SumOfSplits::Parameters p{parts, bias, y, static_cast<u32>(outputs()), p_.splits,
        Divisor(l_.positions()), Divisor(l_.groups * l_.outputs), Divisor(l_.columns),
        l_.bias_stride, l_.ys[0], l_.ys[1], l_.ys[2], l_.ys[3]};
    cuda::start<SumOfSplits>(blocks_for<SumOfSplits>(p.outputs), p, stream);
  }

  const char* name_;
  std::shared_ptr<Device> device_;
  Layer l_;
  Variant v_;
  bool is_wide_;
  ProductParameters p_{};
  std::unique_ptr<DeviceMemory> kept_;  // panels of constant weights
};

/// Groups of few channels would leave tiles of products mostly empty.
class Groups : public DevicePlan {
 public:
  Groups(const Arguments& a, const char* name, const Layer& l) : name_(name), device_(a.device) {
    const auto i = [](i64 v) { return static_cast<i32>(v); };
    p_.outputs = static_cast<u32>(volume(a.call.out[0].shape));
    p_.width = Divisor(l.columns);
    p_.height = Divisor(l.lines);
    p_.channels = Divisor(l.groups * l.outputs);
    p_.group = Divisor(l.outputs);
    p_.inputs = i(l.inputs);
    p_.taps_high = i(l.taps[0]);
    p_.taps_wide = i(l.taps[1]);
    p_.lines = i(l.height);
    p_.columns = i(l.width);
    for (int d = 0; d < 2; ++d) {
      p_.stride[d] = i(l.stride[d]);
      p_.padding[d] = i(l.padding[d]);
      p_.dilation[d] = i(l.dilation[d]);
    }
    std::copy_n(l.xs, 4, p_.xs);
    std::copy_n(l.ws, 4, p_.ws);
    std::copy_n(l.ys, 4, p_.ys);
    p_.bias_stride = l.bias_stride;
    has_bias_ = l.has_bias;
  }
  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    SmallGroups::Parameters p = p_;
    p.x = in[0];
    p.w = in[1];
    p.bias = has_bias_ ? in[2] : nullptr;
    p.y = out[0];
    device_->use([&] {
      cuda::start<SmallGroups>(
          blocks_for<SmallGroups>(p.outputs), p, static_cast<cudaStream_t>(stream));
    });
  }
  const char* path() const override { return name_; }

 private:
  const char* name_;
  std::shared_ptr<Device> device_;
  SmallGroups::Parameters p_{};
  bool has_bias_;
};

template <class Op> std::unique_ptr<DevicePlan> product_plan(const Arguments& a, const char* name) {
  auto plan = std::make_unique<Products>(
      a, name, layer_of(from_attributes<Op>(a.call.attributes()), a.call));
  return plan->serves() ? std::move(plan) : nullptr;
}

std::unique_ptr<DevicePlan> groups_plan(const Arguments& a, const char* name) {
  const Layer l = layer_of(from_attributes<Conv2d>(a.call.attributes()), a.call);
  if (l.groups == 1 || l.inputs >= kSmallGroup || l.outputs >= kSmallGroup) return nullptr;
  return std::make_unique<Groups>(a, name, l);
}

}  // namespace

std::vector<Kernel> product_kernels() {
  return {{Conv2d::name, "conv2d_groups", groups_plan},
      {Conv2d::name, "conv2d_products", product_plan<Conv2d>},
      {Dense::name, "dense_products", product_plan<Dense>}};
}

}  // namespace lockstep::cuda
