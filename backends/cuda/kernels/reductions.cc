// The plans of sum and max.
#include "backends/cuda/kernels/reductions.h"

#include <optional>

#include "backends/cuda/kernels/nests.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kThreads = ReduceElements<Adding, i32, i32>::kThreads;
constexpr i64 kOwn = 8;      // reads of a thread alone before it shares an output
constexpr i64 kLine = 128;   // bytes of a cache line
constexpr i64 kBusy = 4;     // blocks that keep a processor busy
constexpr i64 kPart = 4096;  // elements of an output that are worth a block of their own
constexpr i64 kPartsMax = 256;

using StartReduction = void (*)(i64, const ReduceParameters&, cudaStream_t);

/// A launch, and how many elements its threads read at once: 1 or kGroup.
struct Pass {
  ReduceParameters p{};
  StartReduction start = nullptr;
  i64 wide = 1;
};

bool is_row_last(const cpu::Loops& l) { return l.rank() > 0 && l[l.rank() - 1].stride[1] == 0; }

/// Whether aligned tensors consist of whole groups along the innermost axis.
bool has_groups(const cpu::Loops& l) {
  if (l.rank() == 0 || l[l.rank() - 1].extent % kGroup != 0) return false;
  for (int d = 0; d < l.rank(); ++d)
    for (std::size_t t = 0; t < (is_row_last(l) ? 1 : 2); ++t)
      if (d == l.rank() - 1 ? l[d].stride[t] != 1 : l[d].stride[t] % kGroup != 0) return false;
  return true;
}

template <class Combiner> Pass pass_of(const cpu::Loops& loops, bool is_aligned) {
  Pass pass;
  ReduceParameters& p = pass.p;
  p.is_rows = is_row_last(loops);
  if (is_aligned && has_groups(loops)) {
    pass.wide = kGroup;
    pass.start = p.is_rows ? start<ReduceElements<Combiner, Four, i32>>
                           : start<ReduceElements<Combiner, Four, Four>>;
  } else {
    pass.start = start<ReduceElements<Combiner, i32, i32>>;
  }
  p.outputs = p.elements = 1;
  for (int d = 0; d < loops.rank(); ++d) {
    cpu::LoopAxis a = loops[d];
    if (d == loops.rank() - 1)
      a = {a.extent / pass.wide, {a.stride[0] * pass.wide, a.stride[1] * pass.wide}};
    if (a.stride[1] == 0) {
      add_axis(p.reduced, a);
      p.elements *= static_cast<u32>(a.extent);
    } else {
      add_axis(p.kept, {a.extent, {a.stride[1], a.stride[0]}});
      p.outputs *= static_cast<u32>(a.extent);
    }
  }
  i64 most = kThreads;
  // Neighbouring threads take neighbouring columns, a cache line of them at least.
  const i64 line = kLine / static_cast<i64>(sizeof(i32)) / pass.wide;
  if (!p.is_rows && p.outputs >= line) most = kThreads / line;
  while ((1 << p.sharing_bits) < most && (kOwn << p.sharing_bits) < p.elements) ++p.sharing_bits;
  p.output_blocks = Divisor(ceil_div(p.outputs, kThreads >> p.sharing_bits));
  p.splits = 1;
  p.part = p.elements;
  return pass;
}

/// One launch or two, of which the first reduces parts of each output's elements to compact rows of
/// outputs in scratch memory.
template <class Combiner> struct Passes {
  Pass first, second;
  i64 outputs = 1;

  Passes(const cpu::Loops& loops, const Device& device, bool is_aligned)
      : first(pass_of<Combiner>(loops, is_aligned)) {
    const i64 wanted = ceil_div(kBusy * device.processors(), first.p.output_blocks.value());
    const i64 splits = min(min(wanted, first.p.elements * first.wide / kPart), kPartsMax);
    if (splits <= 1) return;
    for (int d = 0; d < loops.rank(); ++d) outputs *= loops[d].stride[1] == 0 ? 1 : loops[d].extent;
    cpu::Loops parts(2), rest(2);
    rest.add(splits, {outputs, 0});
    i64 outside = outputs;
    for (int d = 0; d < loops.rank(); ++d) {
      const cpu::LoopAxis& a = loops[d];
      if (a.stride[1] != 0) {
        outside /= a.extent;
        rest.add(a.extent, {outside, a.stride[1]});
      }
      parts.add(a.extent, {a.stride[0], a.stride[1] == 0 ? 0 : outside});
    }
    parts.join();
    rest.join();
    first = pass_of<Combiner>(parts, is_aligned);
    first.p.splits = static_cast<u32>(splits);
    first.p.part = static_cast<u32>(ceil_div(first.p.elements, splits));
    first.p.split_stride = outputs;
    second = pass_of<Combiner>(rest, is_aligned);
  }
  i64 scratch() const { return first.p.splits > 1 ? first.p.splits * outputs : 0; }
};

/// The launch for short rows; none: it does not serve these loops.
std::optional<ShortRowsParameters> short_rows_of(const cpu::Loops& l, const Device& device) {
  using K = ReduceShortRows<Adding>;
  constexpr int kLeast = 5, kMost = 8;  // 32 rows, whose columns fill a wave, to one a thread
  if (l.rank() != 2 || !is_row_last(l) || l[1].stride[0] != 1 || l[0].stride[1] == 0) return {};
  const i64 length = l[1].extent, rows = l[0].extent;
  if (length % 2 == 0 || l[0].stride[0] != length || length << kLeast > K::kWords) return {};
  ShortRowsParameters p{};
  p.rows = static_cast<u32>(rows);
  p.length = static_cast<u32>(length);
  p.y_stride = l[0].stride[1];
  p.rows_bits = kMost;
  const auto is_short_of_blocks = [&] {
    return ceil_div(rows, i64{1} << p.rows_bits) < kBusy * device.processors();
  };
  while (p.rows_bits > kLeast && (length << p.rows_bits > K::kWords || is_short_of_blocks()))
    --p.rows_bits;
  return p;
}

template <class Combiner> class Reduction : public KernelPlan {
 public:
  Reduction(const Arguments& a, const char* name)
      : KernelPlan(name, a.device),
        aligned_(cpu::reduction_of(a.call), *a.device, true),
        other_(cpu::reduction_of(a.call), *a.device, false),
        short_rows_(short_rows_of(cpu::reduction_of(a.call), *a.device)) {}
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    if (short_rows_ && is_aligned(in[0])) return start_short_rows(*short_rows_, in[0], out[0], on);
    const bool all = is_aligned(in[0]) && is_aligned(out[0]) && is_aligned(scratch);
    const Passes<Combiner>& s = all ? aligned_ : other_;
    const bool is_split = s.scratch() > 0;
    ReduceParameters p = s.first.p;
    p.x = in[0];
    p.y = is_split ? static_cast<i32*>(scratch) : out[0];
    device_->use([&] {
      s.first.start(i64{p.output_blocks.value()} * p.splits, p, on);
      if (!is_split) return;
      ReduceParameters q = s.second.p;
      q.x = p.y;
      q.y = out[0];
      s.second.start(q.output_blocks.value(), q, on);
    });
  }
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(max(aligned_.scratch(), other_.scratch())) * sizeof(i32);
  }

 private:
  void start_short_rows(ShortRowsParameters p, const i32* x, i32* y, cudaStream_t stream) const {
    p.x = x;
    p.y = y;
    const i64 blocks = ceil_div(p.rows, i64{1} << p.rows_bits);
    device_->use([&] { cuda::start<ReduceShortRows<Combiner>>(blocks, p, stream); });
  }

  Passes<Combiner> aligned_, other_;
  std::optional<ShortRowsParameters> short_rows_;
};

template <class Combiner>
std::unique_ptr<DevicePlan> reduction_plan(const Arguments& a, const char* name) {
  return std::make_unique<Reduction<Combiner>>(a, name);
}

}  // namespace

std::vector<Kernel> reduction_kernels() {
  return {{Sum::name, "reduction", reduction_plan<Adding>},
      {Max::name, "reduction", reduction_plan<Largest>}};
}

}  // namespace lockstep::cuda
