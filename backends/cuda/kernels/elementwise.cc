// The plans of elementwise operators.
#include "backends/cuda/kernels/elementwise.h"

#include "backends/cuda/kernels/nests.h"

namespace lockstep::cuda {
namespace {

template <class K> class Elements;
template <Operator Op> class Elements<ComputeElements<Op>> : public KernelPlan {
 public:
  using K = ComputeElements<Op>;
  static constexpr std::string_view op = Op::name;

  Elements(const Arguments& a, const char* name) : KernelPlan(name, a.device) {
    p_.attrs = from_attributes<Op>(a.call.attributes());
    p_.nest = nest_of<1 + K::kInputs>(cpu::loops_of(a.call.out[0], cpu::chain_inputs(a.call)));
  }
  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    typename K::Parameters p = p_;
    const i32* at[1 + K::kInputs] = {p.y = out[0]};
    for (int i = 0; i < K::kInputs; ++i) at[1 + i] = p.x[i] = in[i];
    look_for_groups(p.nest, at);
    device_->use(
        [&] { cuda::start<K>(blocks_for<K>(p.nest.items), p, static_cast<cudaStream_t>(stream)); });
  }

 private:
  typename K::Parameters p_{};
};

template <class... K> std::vector<Kernel> kernels_of(KernelList<K...>) {
  return {{Elements<K>::op, "elementwise", [](const Arguments& a, const char* name) {
             return std::make_unique<Elements<K>>(a, name);
           }}...};
}

}  // namespace

std::vector<Kernel> elementwise_kernels() { return kernels_of(ElementwiseKernels{}); }

}  // namespace lockstep::cuda
