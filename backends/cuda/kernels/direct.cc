// The plans of products in one launch.
#include "backends/cuda/kernels/direct.h"

#include <algorithm>

#include "backends/cuda/layer.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kIndexMax = (i64{1} << 31) - 1;
constexpr i64 kWholeSteps = Fragment::kDepth;  // channels

// Nanoseconds that an H200 took for a wave of blocks and, within it, for each round of steps and
// for what each thread stores.
struct Cost {
  i64 wave, round, store;
};
constexpr Cost kOfTensors{3000, 800, 250}, kOfCells{2200, 750, 150};

enum Source { any, near, cells };

/// Parts of warps and their kernels, by source.
struct Parts {
  i64 rows, columns, slices, threads, resident;
  void (*start[3])(i64, const DirectParameters&, cudaStream_t);

  i64 blocks(const Layer& l) const {
    return ceil_div(l.outputs, rows) * ceil_div(l.outputs_of_channel(), columns) * l.groups;
  }
  i64 nanoseconds(const Layer& l, i64 steps, const Cost& cost, i64 processors) const {
    return ceil_div(blocks(l), resident * processors) *
        (cost.wave + ceil_div(steps, slices) * cost.round + rows * columns / threads * cost.store);
  }
};
template <template <template <int> class> class K> constexpr Parts parts() {
  using Any = K<AnyColumns>;
  return {Any::kRows, Any::kColumns, Any::kSlicesOf, Any::kThreads, Any::kOccupancy,
      {start<Any>, start<K<NearColumns>>, start<K<CellColumns>>}};
}

constexpr Parts kThin = parts<DirectThin>();
constexpr Parts kParts[] = {parts<DirectWide8>(), parts<DirectWide4>(), parts<DirectWide2>(),
    parts<DirectWide1>(), parts<DirectDeep>()};

class DirectPlan : public KernelPlan {
 public:
  DirectPlan(const Arguments& a, const char* name, const Layer& l)
      : KernelPlan(name, a.device), l_(l), x_(a.fusion.x), ending_(a, l) {
    take_source(a.call.in[0]);
    choose_parts();
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

  /// Whether cells are whole fours of words, and threads can count what they read and store.
  bool serves() const {
    if (x_ && l_.inputs <= kFewChannels) return false;
    const i64 last = (l_.images - 1) * l_.xs[0] + (l_.groups * l_.inputs - 1) * l_.xs[1] +
        (l_.height - 1) * l_.xs[2] + (l_.width - 1) * l_.xs[3];
    return max(last, l_.outputs_of_channel()) <= kIndexMax &&
        parts_.blocks(l_) * parts_.threads <= kIndexMax && weight_bytes() <= kBytesMax;
  }
  i64 nanoseconds() const { return nanoseconds(parts_); }

  void keep(const i32* w) {
    kept_ = std::make_unique<DeviceMemory>(device_, weight_bytes());
    const PackFragments::Parameters p{l_.weights(w, p_.depth.group_words),
        static_cast<Byte*>(kept_->get()),
        static_cast<u32>(weight_bytes() / static_cast<i64>(sizeof(Four))),
        Divisor(parts_.rows / Fragment::kRows), Divisor(p_.row_tiles), p_.rows, p_.depth,
        Divisor(p_.depth.steps)};
    device_->use_at_once([&](cudaStream_t stream) {
      cuda::start<PackFragments>(blocks_for<PackFragments>(p.threads), p, stream);
    });
  }

  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    DirectParameters p = p_;
    p.x =
        reinterpret_cast<const Byte*>(in[0]) + (x_ ? x_->offset(l_.padding[0], l_.padding[1]) : 0);
    p.weights = static_cast<const Byte*>(kept_->get());
    const Source source = source_ == near && !is_aligned(p.x) ? any : source_;
    const i64 blocks = parts_.blocks(l_);
    p.out = ending_.bound(in, out, blocks * parts_.threads);
    device_->use([&] { parts_.start[source](blocks, p, static_cast<cudaStream_t>(stream)); });
  }

 private:
  /// How X is read.
  void take_source(const View& x) {
    const Surface<const void> s = surface_of<const void>(x, x_);
    for (int d = 0; d < 4; ++d) p_.xs[d] = static_cast<u32>(s.stride[d]);
    const auto is_whole = [](i64 extent, i64 stride) { return extent == 1 || stride % 4 == 0; };
    const bool is_near = l_.inputs % 4 == 0 && l_.xs[1] == 1 && is_whole(l_.images, l_.xs[0]) &&
        is_whole(l_.height, l_.xs[2]) && is_whole(l_.width, l_.xs[3]);
    source_ = x_ ? cells : is_near ? near : any;
    const i64 group_words = x_ ? ceil_div(l_.inputs, 16) * 4 : ceil_div(l_.inputs, 4);
    const i64 words = l_.taps[0] * l_.taps[1] * group_words, products = x_ ? 2 : 1;
    p_.group = static_cast<u32>(x_ ? group_words * 4 : l_.inputs * l_.xs[1]);
    p_.depth = {static_cast<u32>(words),
        static_cast<u32>(ceil_div(words, products * Depth::kWords)), static_cast<u32>(products),
        l_.inputs % kWholeSteps == 0, static_cast<i32>(l_.inputs), Divisor(group_words),
        Divisor(l_.taps[1])};
  }
  i64 nanoseconds(const Parts& parts) const {
    return parts.nanoseconds(l_, p_.depth.steps, x_ ? kOfCells : kOfTensors, device_->processors());
  }
  void choose_parts() {
    parts_ = l_.outputs_of_channel() <= kThin.columns
        ? kThin
        : *std::min_element(std::begin(kParts), std::end(kParts),
              [&](const Parts& a, const Parts& b) { return nanoseconds(a) < nanoseconds(b); });
  }
  i64 weight_bytes() const {
    return l_.groups * p_.row_tiles * p_.depth.steps * p_.depth.products * Fragment::kDepth *
        parts_.rows;
  }

  Layer l_;
  std::optional<Packing> x_;
  Source source_ = any;
  Parts parts_{};
  Ending ending_;
  DirectParameters p_{};
  std::unique_ptr<DeviceMemory> kept_;
};

std::unique_ptr<DevicePlan> direct_plan(const Arguments& a, const char* name) {
  if (!a.constants[1] || a.direct == Direct::never) return nullptr;
  const Layer l = *layer_of(a.call);
  if (l.has_small_groups()) return nullptr;
  auto plan = std::make_unique<DirectPlan>(a, name, l);
  const bool is_faster =
      a.direct == Direct::always || plan->nanoseconds() < packed_nanoseconds(a, l);
  if (!plan->serves() || !is_faster) return nullptr;
  plan->keep(a.constants[1]);
  return plan;
}

}  // namespace

std::vector<Kernel> direct_kernels() {
  return {{Conv2d::name, "conv2d_direct", direct_plan}, {Dense::name, "dense_direct", direct_plan}};
}

}  // namespace lockstep::cuda
