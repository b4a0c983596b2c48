// The plans of conv2d and dense.
#include "backends/cuda/kernels/products.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "backends/cuda/layer.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kPaddingBytes = i64{1} << 22;  // of images that are mostly padding
constexpr i64 kFewColumns = 32;
constexpr i64 kSplitPanels = 4, kSplitsMax = 32;  // panels of a part, at least; parts
constexpr i64 kSumPanels = 16;  // panels that take as long as the launch that adds the parts

// Nanoseconds that an H200 took: for a launch, for packing, for adding parts of the depth.
constexpr i64 kLaunch = 4400, kPacking = 4000, kAdding = 4200;

/// A tile and its kernels.
struct Variant {
  i64 rows, columns, warp_rows, threads;
  i64 nanoseconds;  ///< of a panel, where each processor has one tile
  void (*wide)(i64, const ProductParameters&, cudaStream_t);
  void (*narrow)(i64, const ProductParameters&, cudaStream_t);
};
template <class T> constexpr Variant variant(i64 nanoseconds) {
  return {T::kRows, T::kColumns, T::kWarpRows, T::kThreads, nanoseconds,
      start<MatrixProduct<T, 16>>, start<MatrixProduct<T, 4>>};
}
constexpr Variant kThinTile = variant<ThinTile>(100), kSmallTile = variant<SmallTile>(270),
                  kLargeTile = variant<LargeTile>(540);

i64 tiles(const Variant& v, const Layer& l) {
  return ceil_div(l.outputs, v.rows) * ceil_div(l.outputs_of_channel(), v.columns) * l.groups;
}

/// The largest tile of which there are enough to keep the device busy.
Variant variant_of(const Layer& l, i64 processors) {
  if (l.outputs_of_channel() <= kFewColumns) return kThinTile;
  const bool fills_tile =
      l.outputs > kLargeTile.rows / 2 && l.outputs_of_channel() > kLargeTile.columns;
  return fills_tile && tiles(kLargeTile, l) >= processors ? kLargeTile : kSmallTile;
}

/// Packs the images of a tensor into the cells of a packing, groups of channels in whole grains.
template <int kGrain> void pack_images(const i32* x, const i64 (&xs)[4], const Packing& to,
    i64 groups, Byte* cells, cudaStream_t stream) {
  const i64 inputs = to.channels / groups, grains = ceil_div(inputs, kGrain);
  typename PackImages<kGrain>::Parameters p{x, cells,
      static_cast<u32>(to.images * to.lines() * to.columns() * groups * grains),
      Divisor(to.columns()), Divisor(to.lines()), Divisor(grains), Divisor(groups),
      static_cast<i32>(inputs), static_cast<i32>(to.height), static_cast<i32>(to.width),
      {static_cast<i32>(to.padding[0]), static_cast<i32>(to.padding[1])}, {}, false};
  std::copy_n(xs, 4, p.xs);
  const auto is_whole = [](i64 extent, i64 stride) { return extent == 1 || stride % 4 == 0; };
  p.is_aligned = is_aligned(x) && (inputs == 1 || xs[1] == 1) && is_whole(groups, inputs) &&
      is_whole(to.images, xs[0]) && is_whole(to.height, xs[2]) && is_whole(to.width, xs[3]);
  cuda::start<PackImages<kGrain>>(blocks_for<PackImages<kGrain>>(p.threads), p, stream);
}

class Products : public KernelPlan {
 public:
  Products(const Arguments& a, const char* name, const Layer& l)
      : KernelPlan(name, a.device),
        l_(l),
        v_(variant_of(l, a.device->processors())),
        x_(a.fusion.x),
        ending_(a, l) {
    p_.rows = static_cast<u32>(l.outputs);
    p_.columns = static_cast<u32>(l.outputs_of_channel());
    p_.row_tiles = static_cast<u32>(ceil_div(l.outputs, v_.rows));
    p_.column_tiles = static_cast<u32>(ceil_div(p_.columns, v_.columns));
    p_.groups = static_cast<u32>(l.groups);
    p_.window = l.window();
    const i64 group_bytes = ceil_div(l.inputs, grain()) * grain();
    p_.layout = {static_cast<u32>(x_ ? x_->lines() : l.padded(0)),
        static_cast<u32>(x_ ? x_->columns() : l.padded(1)),
        x_ ? x_->position_bytes() : l.groups * group_bytes, Divisor(group_bytes / 4),
        p_.window.taps};
    p_.panels = static_cast<u32>(ceil_div(i64{p_.layout.words()} * 4, Panel::kDepth));
    const i64 most = min(p_.panels / kSplitPanels, a.device->processors() / tiles(v_, l));
    const i64 parts = clamp(most, 1, kSplitsMax);
    p_.splits = static_cast<u32>(p_.panels - p_.panels / parts < kSumPanels ? 1 : parts);
    p_.images = static_cast<u32>(l.images);
  }

  /// Whether packed tensors are small enough to be worth it.
  bool serves() const {
    const i64 elements = l_.images * l_.groups * l_.inputs * l_.height * l_.width;
    return cell_bytes() <= min(kBytesMax, 16 * elements + kPaddingBytes) &&
        panel_bytes() <= kBytesMax;
  }

  /// The time that this plan takes, if weights are constants.
  i64 nanoseconds() const {
    const i64 processors = device_->processors(), blocks = tiles(v_, l_) * p_.splits;
    const i64 panels = ceil_div(p_.panels, p_.splits) * max(blocks, processors);
    return kLaunch + panels * v_.nanoseconds / processors + (x_ ? 0 : kPacking) +
        (p_.splits > 1 ? kAdding : 0);
  }

  /// The traits of this call, whatever fusion it has.
  ProductTraits traits() const {
    ProductTraits t{{}, l_.groups == 1 || l_.outputs % 4 == 0};
    if (l_.groups == 1 || l_.inputs % grain() == 0) t.padding = {l_.padding[0], l_.padding[1]};
    return t;
  }

  /// Packs constant weights.
  void keep(const i32* w) {
    kept_ = std::make_unique<DeviceMemory>(device_, panel_bytes());
    device_->use_at_once(
        [&](cudaStream_t stream) { pack_weights(w, static_cast<Byte*>(kept_->get()), stream); });
  }

  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    auto* const cells = static_cast<Byte*>(scratch);
    Byte* const panels = cells + cell_bytes();
    device_->use([&] {
      ProductParameters p = p_;
      p.weights = kept_ ? static_cast<const Byte*>(kept_->get()) : panels;
      p.cells = cells;
      if (!kept_) pack_weights(in[1], panels, on);
      if (x_)
        p.cells = reinterpret_cast<const Byte*>(in[0]) + x_->offset(l_.padding[0], l_.padding[1]);
      else
        (grain() == 16 ? pack_images<16> : pack_images<4>)(in[0], l_.xs, images(), l_.groups, cells,
            on);
      const i64 blocks = tiles(v_, l_) * p.splits;
      auto* const parts = reinterpret_cast<i32*>(panels + (kept_ ? 0 : panel_bytes()));
      p.out = p.splits == 1 ? ending_.bound(in, out, blocks * v_.threads) : to_parts(parts);
      (grain() == 16 ? v_.wide : v_.narrow)(blocks, p, on);
      if (p.splits > 1) add_splits(parts, in, out, on);
    });
  }
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(cell_bytes() + (kept_ ? 0 : panel_bytes()) +
        (p_.splits == 1 ? 0 : p_.splits * outputs() * static_cast<i64>(sizeof(i32))));
  }

 private:
  i64 grain() const { return l_.inputs > kFewChannels ? 16 : 4; }
  i64 channels() const { return l_.groups * l_.outputs; }
  i64 outputs() const { return channels() * p_.columns; }
  Packing images() const {
    Packing p(Shape{l_.images, l_.groups * l_.inputs, l_.height, l_.width});
    std::copy_n(l_.padding, 2, p.padding);
    return p;
  }
  /// The bytes of the images that this plan packs.
  i64 cell_bytes() const { return x_ ? 0 : ceil_div(l_.images * p_.layout.image_bytes(), 64) * 64; }
  i64 panel_bytes() const { return l_.groups * p_.row_tiles * p_.panels * v_.rows * Panel::kDepth; }

  /// Stores the parts of the output in row-major order.
  Epilogue to_parts(i32* parts) const {
    Epilogue e;
    e.y = {parts, false, false, {channels() * l_.positions(), l_.positions(), l_.columns, 1}};
    return e;
  }

  void pack_weights(const i32* w, Byte* panels, cudaStream_t stream) const {
    const PackWeights::Parameters p{l_.weights(w, p_.layout.group_words), panels,
        static_cast<u32>(panel_bytes() / Panel::kChunk), Divisor(v_.rows * Panel::kChunks),
        Divisor(p_.panels), Divisor(p_.row_tiles), static_cast<u32>(v_.rows),
        static_cast<u32>(v_.warp_rows), p_.rows, p_.layout.words()};
    cuda::start<PackWeights>(blocks_for<PackWeights>(p.threads), p, stream);
  }

  void add_splits(
      const i32* parts, const int32_t* const* in, int32_t* const* out, cudaStream_t stream) const {
    const i64 steps = ceil_div(channels(), ending_.is_packed() ? 4 : 1);
    const i64 threads = l_.images * steps * l_.positions();
    const i64 blocks = blocks_for<SumOfSplits>(threads);
    const SumOfSplits::Parameters p{parts, static_cast<u32>(threads), p_.splits,
        static_cast<u32>(channels()), outputs(), Divisor(l_.positions()), Divisor(steps),
        Divisor(l_.columns), ending_.bound(in, out, blocks * SumOfSplits::kThreads)};
    cuda::start<SumOfSplits>(blocks, p, stream);
  }

  Layer l_;
  Variant v_;
  std::optional<Packing> x_;
  Ending ending_;
  ProductParameters p_{};
  std::unique_ptr<DeviceMemory> kept_;  // panels of constant weights
};

template <class Value> class Groups : public KernelPlan {
 public:
  using K = SmallGroups<Value>;
  Groups(const Arguments& a, const char* name, const Layer& l)
      : KernelPlan(name, a.device), x_(a.fusion.x), ending_(a, l) {
    const auto i = [](i64 v) { return static_cast<i32>(v); };
    const i64 channels = l.groups * l.outputs, steps = ceil_div(channels, 4);
    p_.channels = static_cast<u32>(channels);
    p_.threads =
        static_cast<u32>(l.images * (ending_.is_packed() ? steps : channels) * l.positions());
    const i64 by_lines[] = {l.columns, l.lines, channels}, by_steps[] = {steps, l.columns, l.lines};
    for (int d = 0; d < 3; ++d)
      p_.extent[d] = Divisor(ending_.is_packed() ? by_steps[d] : by_lines[d]);
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
    std::copy_n(surface_of<void>(a.call.in[0], x_).stride, 4, p_.xs);
    std::copy_n(l.ws, 4, p_.ws);
  }
  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    typename K::Parameters p = p_;
    p.x = reinterpret_cast<const Value*>(in[0]) + (x_ ? x_->offset(0, 0) : 0);
    p.w = in[1];
    const i64 blocks = blocks_for<K>(p.threads);
    p.out = ending_.bound(in, out, blocks * K::kThreads);
    device_->use([&] { cuda::start<K>(blocks, p, static_cast<cudaStream_t>(stream)); });
  }

 private:
  std::optional<Packing> x_;
  Ending ending_;
  typename K::Parameters p_{};
};

/// Whether each channel is convolved by itself.
bool is_depthwise(const Layer& l) { return l.groups > 1 && l.inputs == 1 && l.outputs == 1; }

/// The plan of a depthwise call whose images lie packed.
class DepthwisePlan : public KernelPlan {
 public:
  DepthwisePlan(const Arguments& a, const char* name, const Layer& l)
      : KernelPlan(name, a.device),
        l_(l),
        x_(*a.fusion.x),
        w_(Shape{1, l.groups, l.taps[0], l.taps[1]}),
        ending_(a, l) {
    const i64 steps = ceil_div(l.groups, 4), spans = ceil_div(l.columns, Depthwise<0>::kSpan);
    p_.threads = static_cast<u32>(l.images * l.lines * spans * steps);
    p_.channels = static_cast<u32>(l.groups);
    p_.columns = static_cast<u32>(l.columns);
    p_.steps = Divisor(steps);
    p_.spans = Divisor(spans);
    p_.lines = Divisor(l.lines);
    p_.taps_high = static_cast<i32>(l.taps[0]);
    p_.taps_wide = static_cast<i32>(l.taps[1]);
    p_.image = x_.image_bytes();
    p_.line = l.stride[0] * x_.line_bytes();
    p_.column = l.stride[1] * x_.position_bytes();
    p_.tap_line = l.dilation[0] * x_.line_bytes();
    p_.tap = l.dilation[1] * x_.position_bytes();
    p_.tap_weights = w_.position_bytes();
  }
  /// Packs constant weights.
  void keep(const i32* w) {
    kept_ = std::make_unique<DeviceMemory>(device_, w_.bytes());
    device_->use_at_once(
        [&](cudaStream_t stream) { pack_weights(w, static_cast<Byte*>(kept_->get()), stream); });
  }
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    device_->use([&] {
      if (!kept_) pack_weights(in[1], static_cast<Byte*>(scratch), on);
      p_.taps_high == 3 && p_.taps_wide == 3 ? launch<3>(in, out, scratch, on)
                                             : launch<0>(in, out, scratch, on);
    });
  }
  uint64_t scratch_bytes() const override { return kept_ ? 0 : static_cast<uint64_t>(w_.bytes()); }

 private:
  void pack_weights(const i32* w, Byte* cells, cudaStream_t stream) const {
    const i64 strides[] = {0, l_.ws[0], l_.ws[2], l_.ws[3]};
    (w_.channels > kFewChannels ? pack_images<16> : pack_images<4>)(w, strides, w_, 1, cells,
        stream);
  }
  template <int kTaps> void launch(
      const int32_t* const* in, int32_t* const* out, void* scratch, cudaStream_t stream) const {
    using K = Depthwise<kTaps>;
    DepthwiseParameters p = p_;
    p.x = reinterpret_cast<const Byte*>(in[0]) + x_.offset(l_.padding[0], l_.padding[1]);
    p.w = static_cast<const Byte*>(kept_ ? kept_->get() : scratch);
    const i64 blocks = blocks_for<K>(p.threads);
    p.out = ending_.bound(in, out, blocks * K::kThreads);
    cuda::start<K>(blocks, p, stream);
  }

  Layer l_;
  Packing x_, w_;  // weights are an image of taps
  Ending ending_;
  DepthwiseParameters p_{};
  std::unique_ptr<DeviceMemory> kept_;  // cells of constant weights
};

std::unique_ptr<DevicePlan> product_plan(const Arguments& a, const char* name) {
  auto plan = std::make_unique<Products>(a, name, *layer_of(a.call));
  if (!plan->serves()) return nullptr;
  if (const i32* w = a.constants[1]) plan->keep(w);
  return plan;
}

std::unique_ptr<DevicePlan> groups_plan(const Arguments& a, const char* name) {
  const Layer l = *layer_of(a.call);
  if (!l.has_small_groups()) return nullptr;
  if (a.fusion.x && is_depthwise(l)) {
    auto plan = std::make_unique<DepthwisePlan>(a, name, l);
    if (const i32* w = a.constants[1]) plan->keep(w);
    return plan;
  }
  if (a.fusion.x) return std::make_unique<Groups<std::int8_t>>(a, name, l);
  return std::make_unique<Groups<i32>>(a, name, l);
}

}  // namespace

std::optional<ProductTraits> product_traits(const Arguments& a) {
  const std::optional<Layer> l = layer_of(a.call);
  if (!a.is_tuned || !l) return std::nullopt;
  if (is_depthwise(*l)) return ProductTraits{{{l->padding[0], l->padding[1]}}, true};
  if (l->has_small_groups()) return ProductTraits{{{0, 0}}, true};
  const Products plan(a, "", *l);
  return plan.serves() ? std::optional(plan.traits()) : std::nullopt;
}

i64 packed_nanoseconds(const Arguments& a, const Layer& l) {
  const Products plan(a, "", l);
  return plan.serves() ? plan.nanoseconds() : std::numeric_limits<i64>::max();
}

std::vector<Kernel> product_kernels() {
  return {{Conv2d::name, "conv2d_groups", groups_plan},
      {Conv2d::name, "conv2d_products", product_plan},
      {Dense::name, "dense_products", product_plan}};
}

}  // namespace lockstep::cuda
