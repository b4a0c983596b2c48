// The plans of operators that only move elements.
#include "backends/cuda/kernels/movement.h"

#include "backends/cuda/kernels/copies.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kWorthTiles = 8;  // extents below leave tiles mostly empty

/// The axis along which the source is contiguous, if that is another than the innermost one and
/// both are long; else -1.
int source_axis(const cpu::Loops& l) {
  const int last = l.rank() - 1;
  if (last < 1 || l[last].extent < kWorthTiles || l[last].stride[1] <= 1) return -1;
  for (int d = 0; d < last; ++d)
    if (l[d].stride[1] == 1 && l[d].extent >= kWorthTiles) return d;
  return -1;
}

/// Whether the innermost axis repeats elements fewer times than make groups, and with the next one
/// makes a row of the target that consists of aligned groups.
bool repeats_in_groups(const cpu::Loops& l, const i32* y) {
  const int last = l.rank() - 1;
  if (last < 1 || !is_aligned(y) || l[last].stride[0] != 1 || l[last].stride[1] != 0) return false;
  const i64 repeats = l[last].extent;
  bool in_groups = repeats % kGroup != 0 && l[last - 1].stride[0] == repeats &&
      l[last - 1].extent * repeats % kGroup == 0;
  for (int d = 0; d < last - 1; ++d) in_groups &= l[d].stride[0] % kGroup == 0;
  return in_groups;
}

void repeat(const cpu::Loops& l, i32* y, const i32* x, cudaStream_t stream) {
  const int last = l.rank() - 1;
  RepeatElements::Parameters p{};
  for (int d = 0; d < last - 1; ++d) add_axis(p.outer, l[d]);
  p.groups = Divisor(l[last].extent * l[last - 1].extent / kGroup);
  p.repeats = Divisor(l[last].extent);
  p.x_stride = l[last - 1].stride[1];
  p.items = static_cast<u32>(l.volume() / kGroup);
  p.x = x;
  p.y = y;
  start<RepeatElements>(blocks_for<RepeatElements>(p.items), p, stream);
}

void transpose(const cpu::Loops& l, int axis, i32* y, const i32* x, cudaStream_t stream) {
  TransposeTiles::Parameters p{};
  i64 blocks = 1;
  for (int d = 0; d < l.rank() - 1; ++d) {
    if (d == axis) continue;
    add_axis(p.outer, l[d]);
    blocks *= l[d].extent;
  }
  const cpu::LoopAxis* axes[] = {&l[l.rank() - 1], &l[axis]};
  for (int k = 0; k < 2; ++k) {
    const i64 tiles = ceil_div(axes[k]->extent, TransposeTiles::kTile);
    p.extent[k] = static_cast<u32>(axes[k]->extent);
    p.tiles[k] = Divisor(tiles);
    p.y_stride[k] = axes[k]->stride[0];
    p.x_stride[k] = axes[k]->stride[1];
    blocks *= tiles;
  }
  p.y = y;
  p.x = x;
  start<TransposeTiles>(blocks, p, stream);
}

/// Copies that one launch may do together: none waits for another one.
template <int kParts> class Together {
 public:
  explicit Together(cudaStream_t stream) : stream_(stream) {}
  void add(const cpu::Loops& loops, i32* y, const i32* x) {
    typename K::Part& part = p_.part[count_];
    part = {nest_of<2>(loops), x, y};
    look_for_groups(part.nest, {y, x});
    blocks_ += blocks_for<K>(part.nest.items);
    p_.end[count_] = static_cast<u32>(blocks_);
    if (++count_ == kParts) start();
  }
  /// Starts those that have not been started.
  void start() {
    if (count_ > 0) cuda::start<K>(blocks_, p_, stream_);
    count_ = 0;
    blocks_ = 0;
    p_ = {};
  }

 private:
  using K = CopyElements<kParts>;
  cudaStream_t stream_;
  typename K::Parameters p_{};
  int count_ = 0;
  i64 blocks_ = 0;
};

class Movement : public KernelPlan {
 public:
  Movement(std::shared_ptr<Device> device, const char* name, cpu::Portions portions)
      : KernelPlan(name, std::move(device)), portions_(std::move(portions)) {
    are_apart_ = portions_.size() > 1;
    for (cpu::Portion& p : portions_) {
      p.loops.join();
      are_apart_ &= !p.to_scratch && p.input != cpu::kScratch && source_axis(p.loops) < 0;
    }
  }
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const room = static_cast<i32*>(scratch);
    device_->use([&] {
      if (are_apart_) {
        Together<kCopiesMax> together(static_cast<cudaStream_t>(stream));
        for (const cpu::Portion& p : portions_)
          together.add(p.loops, out[0] + p.to, in[p.input] + p.from);
        return together.start();
      }
      for (const cpu::Portion& p : portions_)
        copy(p.loops, (p.to_scratch ? room : out[0]) + p.to,
            (p.input == cpu::kScratch ? room : in[p.input]) + p.from,
            static_cast<cudaStream_t>(stream));
    });
  }
  uint64_t scratch_bytes() const override {
    i64 elements = 0;
    for (const cpu::Portion& p : portions_) elements += p.to_scratch ? p.loops.volume() : 0;
    return static_cast<uint64_t>(elements) * sizeof(i32);
  }

 private:
  cpu::Portions portions_;
  bool are_apart_ = false;
};

template <class... Op> std::vector<Kernel> kernels_of(OperatorList<Op...>) {
  const auto plan = [](const Arguments& a, const char* name) {
    return std::make_unique<Movement>(a.device, name, cpu::portions_of(a.call));
  };
  return {{Op::name, "movement", plan}...};
}

}  // namespace

void copy(const cpu::Loops& loops, i32* y, const i32* x, cudaStream_t stream) {
  if (const int axis = source_axis(loops); axis >= 0) return transpose(loops, axis, y, x, stream);
  if (repeats_in_groups(loops, y)) return repeat(loops, y, x, stream);
  Together<1>(stream).add(loops, y, x);
}

std::unique_ptr<DevicePlan> copy_plan(
    const View& x, const Out& y, const std::shared_ptr<Device>& device) {
  return std::make_unique<Movement>(device, "copy", cpu::copied(x, y));
}

std::vector<Kernel> movement_kernels() { return kernels_of(cpu::MovingOperators{}); }

}  // namespace lockstep::cuda
