// The plans of take and cvm_lut.
#include "backends/cuda/kernels/gathers.h"

#include "backends/cuda/kernels/copies.h"

namespace lockstep::cuda {
namespace {

class Gather : public KernelPlan {
 public:
  Gather(const Arguments& a, const char* name)
      : KernelPlan(name, a.device), t_(cpu::taking_of(a.call)) {
    t_.loops.join();
    p_.nest = nest_of<3>(t_.loops);
    p_.last = t_.last;
    p_.is_row = p_.nest.stride[2] == 0;
    const View& x = a.call.in[static_cast<std::size_t>(t_.x)];
    if (t_.step == 0) {  // no step leads through X: its elements are first brought into order
      row_major_ = cpu::copied(x, Out(x, nullptr))[0].loops;
      row_major_.join();
      t_.step = 1;
    }
    p_.step = t_.step;
  }
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    GatherElements::Parameters p = p_;
    p.x = in[t_.x];
    p.index = in[t_.index];
    p.y = out[0];
    device_->use([&] {
      if (row_major_.rank() > 0) {
        auto* const room = static_cast<i32*>(scratch);
        copy(row_major_, room, p.x, on);
        p.x = room;
      }
      look_for_groups(p.nest, {p.y, p.x, p.index});
      constexpr unsigned kX = 1U << 1;
      if (p.step % kGroup != 0) p.nest.wide &= ~kX;
      start_gather(p, on);
    });
  }
  uint64_t scratch_bytes() const override {
    return row_major_.rank() > 0 ? static_cast<uint64_t>(row_major_.volume()) * sizeof(i32) : 0;
  }

 private:
  static void start_gather(const GatherElements::Parameters& p, cudaStream_t stream) {
    cuda::start<GatherElements>(blocks_for<GatherElements>(p.nest.items), p, stream);
  }

  cpu::Taking t_;
  cpu::Loops row_major_{2};  ///< no axes: X itself serves
  GatherElements::Parameters p_{};
};

std::unique_ptr<DevicePlan> gather_plan(const Arguments& a, const char* name) {
  return std::make_unique<Gather>(a, name);
}

}  // namespace

std::vector<Kernel> gather_kernels() {
  return {{Take::name, "gather", gather_plan}, {CvmLut::name, "gather", gather_plan}};
}

}  // namespace lockstep::cuda
