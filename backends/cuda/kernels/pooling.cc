// The plan of max_pool2d.
#include "backends/cuda/kernels/pooling.h"

#include <algorithm>

#include "backends/cuda/families.h"
#include "spec/ops/max_pool2d.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kWide = 4;  // outputs of a thread of PoolHalves

using StartPooling = void (*)(const PoolParameters&, cudaStream_t);
template <class K> void start_pooling(const PoolParameters& p, cudaStream_t stream) {
  cuda::start<K>(blocks_for<K>(p.outputs), p, stream);
}

/// Whether windows of PoolHalves meet whole groups, where the tensors are aligned.
bool has_halves(const PoolParameters& p) {
  const i32 size = p.pool[0];
  bool has = (size == 2 || size == 3) && p.pool[1] == size && p.stride[1] == 2 &&
      p.padding[1] == size - 2 && p.width.value() % kWide == 0 &&
      static_cast<u32>(p.columns) == 2 * p.width.value() && p.xs[3] == 1 && p.ys[3] == 1;
  for (int d = 0; d < 3; ++d) has &= p.xs[d] % kWide == 0 && p.ys[d] % kWide == 0;
  return has;
}

class Pooling : public KernelPlan {
 public:
  Pooling(const Arguments& a, const char* name) : KernelPlan(name, a.device) {
    const auto attrs = from_attributes<MaxPool2d>(a.call.attributes());
    const View& x = a.call.in[0];
    const Out& y = a.call.out[0];
    p_.outputs = static_cast<u32>(volume(y.shape));
    p_.width = Divisor(y.dim(3));
    p_.height = Divisor(y.dim(2));
    p_.channels = Divisor(y.dim(1));
    p_.lines = static_cast<i32>(x.dim(2));
    p_.columns = static_cast<i32>(x.dim(3));
    for (int d = 0; d < 2; ++d) {
      p_.pool[d] = static_cast<i32>(attrs.pool_size[d]);
      p_.stride[d] = static_cast<i32>(attrs.strides[d]);
      p_.padding[d] = static_cast<i32>(MaxPool2d::pad(attrs, d));
    }
    std::copy_n(x.stride, 4, p_.xs);
    std::copy_n(y.stride, 4, p_.ys);
    if (p_.pool[0] == p_.pool[1])
      start_ = p_.pool[0] == 2 ? start_pooling<PoolWindows<2>>
          : p_.pool[0] == 3    ? start_pooling<PoolWindows<3>>
          : p_.pool[0] == 5    ? start_pooling<PoolWindows<5>>
                               : start_pooling<PoolWindows<0>>;
    if (has_halves(p_))
      start_halves_ = p_.pool[0] == 2 ? start_pooling<PoolHalves<2>> : start_pooling<PoolHalves<3>>;
  }
  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    PoolParameters p = p_;
    p.x = in[0];
    p.y = out[0];
    const bool halves = start_halves_ && is_aligned(p.x) && is_aligned(p.y);
    if (halves) {
      p.outputs /= kWide;
      p.width = Divisor(p.width.value() / kWide);
      p.ys[3] = kWide;
    }
    device_->use([&] { (halves ? start_halves_ : start_)(p, static_cast<cudaStream_t>(stream)); });
  }

 private:
  PoolParameters p_{};
  StartPooling start_ = start_pooling<PoolWindows<0>>, start_halves_ = nullptr;
};

}  // namespace

std::vector<Kernel> pooling_kernels() {
  return {{MaxPool2d::name, "pooling",
      [](const Arguments& a, const char* name) { return std::make_unique<Pooling>(a, name); }}};
}

}  // namespace lockstep::cuda
