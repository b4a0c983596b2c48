// The plans of products in one launch.
#include "backends/cuda/kernels/direct.h"

#include "backends/cuda/layer.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kIndexMax = (i64{1} << 31) - 1;
constexpr i64 kFlatSteps = 3;

/// Parts of warps and their kernels, by source.
struct Parts {
  i64 rows, columns, threads;
  void (*start[3])(i64, const DirectParameters&, cudaStream_t);
};
template <template <Source> class K> constexpr Parts parts() {
  using Any = K<Source::any>;
  return {Any::kRows, Any::kColumns, Any::kThreads,
      {start<Any>, start<K<Source::in_order>>, start<K<Source::cells>>}};
}

i64 blocks_of(const Parts& parts, const Layer& l) {
  return ceil_div(l.outputs, parts.rows) * ceil_div(l.outputs_of_channel(), parts.columns) *
      l.groups;
}

Parts parts_of(const Layer& l, i64 steps, i64 processors) {
  constexpr Parts kThin = parts<DirectThin>(), kFlat = parts<DirectFlat>(),
                  kWide = parts<DirectWide>();
  if (l.outputs_of_channel() <= kThin.columns) return kThin;
  if (steps <= kFlatSteps && blocks_of(kFlat, l) >= processors) return kFlat;
  return blocks_of(kWide, l) < processors / 2 ? parts<DirectDeep>() : kWide;
}

class DirectPlan : public DevicePlan {
 public:
  DirectPlan(const Arguments& a, const char* name, const Layer& l)
      : name_(name),
        device_(a.device),
        l_(l),
        x_(a.fusion.x),
        read_max_(i64{a.direct} << 20),
        ending_(a, l) {
    take_source(a.call.in[0]);
    const auto u = [](i64 v) { return static_cast<u32>(v); };
    const auto i = [](i64 v) { return static_cast<i32>(v); };
    p_.row_tiles = u(ceil_div(l.outputs, parts_.rows));
    p_.column_tiles = u(ceil_div(l.outputs_of_channel(), parts_.columns));
    p_.rows = u(l.outputs);
    p_.columns = u(l.outputs_of_channel());
    p_.height = i(l.height);
    p_.width = i(l.width);
    for (int d = 0; d < 2 && !x_; ++d) p_.padding[d] = i(l.padding[d]);
    p_.window = l.window();
    p_.is_by_channels = a.fusion.y || a.call.out[0].stride[1] == 1;
  }

  /// Whether cells are whole fours of words, blocks can count what they read, and it is so little
  /// that another launch, which would pack it, would take longer.
  bool serves() const {
    if (x_ && l_.inputs <= kFewChannels) return false;
    const i64 last = (l_.images - 1) * l_.xs[0] + (l_.groups * l_.inputs - 1) * l_.xs[1] +
        (l_.height - 1) * l_.xs[2] + (l_.width - 1) * l_.xs[3];
    const i64 read = i64{p_.depth.words} * (x_ ? 4 : 16) * parts_.columns * blocks_of(parts_, l_);
    return read <= read_max_ && last <= kIndexMax && weight_bytes() <= kBytesMax;
  }

  void keep(const i32* w) {
    kept_ = std::make_unique<DeviceMemory>(device_, weight_bytes());
    PackFragments::Parameters p{w, static_cast<Byte*>(kept_->get()),
        static_cast<u32>(weight_bytes() / static_cast<i64>(sizeof(Four))),
        Divisor(parts_.rows / Fragment::kRows), Divisor(p_.row_tiles), p_.rows, p_.depth,
        Divisor(p_.depth.lane_words / 2), Divisor(p_.depth.steps), {}};
    std::copy_n(l_.ws, 4, p.ws);
    device_->use_at_once([&](cudaStream_t stream) {
      cuda::start<PackFragments>(blocks_for<PackFragments>(p.threads), p, stream);
    });
  }

  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    DirectParameters p = p_;
    p.x =
        reinterpret_cast<const Byte*>(in[0]) + (x_ ? x_->offset(l_.padding[0], l_.padding[1]) : 0);
    p.weights = static_cast<const Byte*>(kept_->get());
    const Source source = source_ == Source::in_order && !is_aligned(p.x) ? Source::any : source_;
    const i64 blocks = blocks_of(parts_, l_);
    p.out = ending_.bound(in, out, blocks * parts_.threads);
    device_->use([&] {
      parts_.start[static_cast<int>(source)](blocks, p, static_cast<cudaStream_t>(stream));
    });
  }
  const char* path() const override { return name_; }

 private:
  /// How X is read, and which parts make the outputs.
  void take_source(const View& x) {
    const Surface<const void> s = surface_of<const void>(x, x_);
    for (int d = 0; d < 4; ++d) p_.xs[d] = static_cast<u32>(s.stride[d]);
    const auto is_whole = [](i64 extent, i64 stride) { return extent == 1 || stride % 4 == 0; };
    const bool is_in_order = l_.inputs % 4 == 0 && l_.xs[1] == 1 && is_whole(l_.images, l_.xs[0]) &&
        is_whole(l_.height, l_.xs[2]) && is_whole(l_.width, l_.xs[3]);
    source_ = x_ ? Source::cells : is_in_order ? Source::in_order : Source::any;
    const i64 group_words = ceil_div(l_.inputs, x_ ? 16 : 4) * (x_ ? 4 : 1);
    const i64 words = l_.taps[0] * l_.taps[1] * group_words;
    const u32 lane_words = Depth::lane_words_of(source_);
    const i64 steps = ceil_div(words, 4 * lane_words);
    p_.group = static_cast<u32>(x_ ? group_words * 4 : l_.inputs * l_.xs[1]);
    p_.depth = {static_cast<u32>(words), static_cast<u32>(steps), lane_words,
        static_cast<i32>(l_.inputs), Divisor(group_words), Divisor(l_.taps[1])};
    parts_ = parts_of(l_, steps, device_->processors());
  }
  i64 weight_bytes() const {
    return l_.groups * p_.row_tiles * p_.depth.steps * p_.depth.lane_words * 16 * parts_.rows;
  }

  const char* name_;
  std::shared_ptr<Device> device_;
  Layer l_;
  std::optional<Packing> x_;
  i64 read_max_;
  Source source_ = Source::any;
  Parts parts_{};
  Ending ending_;
  DirectParameters p_{};
  std::unique_ptr<DeviceMemory> kept_;
};

std::unique_ptr<DevicePlan> direct_plan(const Arguments& a, const char* name) {
  if (!a.constants[1]) return nullptr;
  const Layer l = *layer_of(a.call);
  if (l.has_small_groups()) return nullptr;
  auto plan = std::make_unique<DirectPlan>(a, name, l);
  if (!plan->serves()) return nullptr;
  plan->keep(a.constants[1]);
  return plan;
}

}  // namespace

std::vector<Kernel> direct_kernels() {
  return {{Conv2d::name, "conv2d_direct", direct_plan}, {Dense::name, "dense_direct", direct_plan}};
}

}  // namespace lockstep::cuda
