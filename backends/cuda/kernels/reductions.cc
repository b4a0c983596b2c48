// The plans of sum and max.
#include "backends/cuda/kernels/reductions.h"

#include "backends/cuda/kernels/nests.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kThreads = ReduceElements<Adding>::kThreads;
constexpr i64 kOwn = 16;     // elements that a thread reduces alone before it shares an output
constexpr i64 kBusy = 4;     // blocks of each processor
constexpr i64 kPart = 4096;  // elements of an output that are worth a block of their own
constexpr i64 kPartsMax = 256;

using StartReduction = void (*)(i64, const ReduceParameters&, cudaStream_t);

ReduceParameters parameters_of(const cpu::Loops& loops) {
  ReduceParameters p{};
  p.outputs = p.elements = 1;
  for (int d = 0; d < loops.rank(); ++d) {
    const cpu::LoopAxis& a = loops[d];
    if (a.stride[1] == 0) {
      add_axis(p.reduced, a);
      p.elements *= static_cast<u32>(a.extent);
    } else {
      add_axis(p.kept, {a.extent, {a.stride[1], a.stride[0]}});
      p.outputs *= static_cast<u32>(a.extent);
    }
  }
  p.is_rows = loops.rank() > 0 && loops[loops.rank() - 1].stride[1] == 0;
  p.sharing = 1;
  while (p.sharing < kThreads && p.sharing * kOwn < p.elements) p.sharing *= 2;
  // Neighbours take neighbouring columns, a cache line of them at least.
  constexpr int kLine = 32;
  if (!p.is_rows && p.outputs >= kLine)
    p.sharing = static_cast<int>(min(p.sharing, kThreads / kLine));
  p.output_blocks = Divisor(ceil_div(p.outputs, kThreads / p.sharing));
  p.splits = 1;
  return p;
}

class Reduction : public DevicePlan {
 public:
  Reduction(const Arguments& a, const char* name, StartReduction start)
      : name_(name), device_(a.device), start_(start) {
    const cpu::Loops loops = cpu::reduction_of(a.call);
    first_ = parameters_of(loops);
    const i64 blocks = first_.output_blocks.value();
    const i64 wanted = ceil_div(kBusy * a.device->processors(), blocks);
    const i64 splits = min(min(wanted, first_.elements / kPart), kPartsMax);
    if (splits > 1) split(splits);
  }
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    const bool is_split = first_.splits > 1;
    ReduceParameters p = first_;
    p.x = in[0];
    p.y = is_split ? static_cast<i32*>(scratch) : out[0];
    device_->use([&] {
      start_(i64{p.output_blocks.value()} * p.splits, p, on);
      if (!is_split) return;
      ReduceParameters q = second_;
      q.x = p.y;
      q.y = out[0];
      start_(q.output_blocks.value(), q, on);
    });
  }
  uint64_t scratch_bytes() const override {
    return first_.splits > 1 ? uint64_t{first_.splits} * first_.outputs * sizeof(i32) : 0;
  }
  const char* path() const override { return name_; }

 private:
  /// Lets blocks reduce parts of each output's elements, to compact rows of outputs.
  void split(i64 splits) {
    first_.splits = static_cast<u32>(splits);
    first_.split_stride = first_.outputs;
    cpu::Loops rest(2);  // of the second launch
    rest.add(splits, {i64{first_.outputs}, 0});
    i64 compact = 1;
    for (int d = first_.kept.rank - 1; d >= 0; --d) {
      const i64 extent = first_.kept.extent[d].value();
      rest.add(extent, {compact, first_.kept.stride[d][0]});
      first_.kept.stride[d][0] = compact;
      compact *= extent;
    }
    rest.join();
    second_ = parameters_of(rest);
  }

  const char* name_;
  std::shared_ptr<Device> device_;
  StartReduction start_;
  ReduceParameters first_{}, second_{};
};

template <class Combiner>
std::unique_ptr<DevicePlan> reduction_plan(const Arguments& a, const char* name) {
  return std::make_unique<Reduction>(a, name, start<ReduceElements<Combiner>>);
}

}  // namespace

std::vector<Kernel> reduction_kernels() {
  return {{Sum::name, "reduction", reduction_plan<Adding>},
      {Max::name, "reduction", reduction_plan<Largest>}};
}

}  // namespace lockstep::cuda
