/// @file
/// max_pool2d of pixels. An item of parallel work takes the maxima of a row of windows.
#include <memory>
#include <string>

#include "backends/cpu/max_pool2d.h"
#include "backends/cpu/pack.h"
#include "spec/ops/max_pool2d.h"

namespace lockstep::cpu {
namespace {

constexpr double kPixelNs = 0.5;

class PixelPooling : public KernelPlan {
 public:
  explicit PixelPooling(const Arguments& a)
      : KernelPlan("max_pool2d_pixels", a.pool),
        attrs_(from_attributes<MaxPool2d>(a.call.attributes())),
        kernels_(*best_dot(*a.isa).pixels),
        x_(a.call.in[0]),
        y_(a.call.out[0]) {}

  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    const i64 planes = y_.dim(1) / kPixelChannels, rows = y_.dim(2);
    const i64 taps = attrs_.pool_size[0] * attrs_.pool_size[1];
    pool_->run(y_.dim(0) * planes * rows, kPixelNs * static_cast<double>(taps * y_.dim(3)),
        [&](i64 begin, i64 end) {
          for (i64 i = begin; i < end; ++i) {
            const i64 image = i / (planes * rows), row = i / planes % rows, plane = i % planes;
            pool_row(out[0] + image * y_.stride[0] + plane * y_.stride[1] + row * y_.stride[2],
                in[0] + image * x_.stride[0] + plane * x_.stride[1], row);
          }
        });
  }

 private:
  void pool_row(i32* y, const i32* x, i64 row) const {
    const i64 top = row * attrs_.strides[0] - MaxPool2d::pad(attrs_, 0);
    const i64 first = max(top, 0), last = min(top + attrs_.pool_size[0], x_.dim(2));
    kernels_.pool({x + first * x_.stride[2], last - first, x_.stride[2], x_.dim(3),
        attrs_.pool_size[1], attrs_.strides[1], MaxPool2d::pad(attrs_, 1), y, y_.dim(3)});
  }

  MaxPool2dAttrs attrs_;
  const PixelKernels& kernels_;
  View x_;
  Out y_;
};

}  // namespace

std::unique_ptr<Plan> pixel_pooling(const Arguments& a) {
  return std::make_unique<PixelPooling>(a);
}

}  // namespace lockstep::cpu
