/// @file
/// Any operator in parallel, by the code of its specification.
#pragma once
#include "backends/cpu/plans.h"

namespace lockstep::cpu {

/// Runs `at` for each output element, or `eval` once.
template <Operator Op> class Generic : public Plan {
 public:
  explicit Generic(const Arguments& a)
      : call_(a.call), attrs_(from_attributes<Op>(call_.attributes())), pool_(a.pool) {
    i64 elements = 0;
    for (const View& v : call_.in) elements += volume(v.shape);
    const i64 results = volume(call_.out[0].shape);
    element_ns_ = kAtNs + kReadNs * static_cast<double>(elements) / static_cast<double>(results);
  }
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    const std::vector<View> x = backend::bound(call_.in, in);
    const std::vector<Out> y = backend::bound(call_.out, out);
    const Span<View> inputs{x.data(), static_cast<int>(x.size())};
    if constexpr (Whole<Op>)
      Op::eval(attrs_, inputs, Span<Out>{y.data(), static_cast<int>(y.size())});
    else
      pool_->run(volume(y[0].shape), element_ns_,
          [&](i64 begin, i64 end) { elements(inputs, y[0], begin, end); });
  }
  const char* path() const override { return "generic"; }

 private:
  // The estimated time of one output: a minimum, plus the inputs read per output.
  static constexpr double kAtNs = 4, kReadNs = 1;

  void elements(const Span<View>& in, const Out& out, i64 begin, i64 end) const {
    const Type type = out;
    Index y = unravel(begin, type.shape);
    for (i64 k = begin; k < end; ++k, next(y, type.shape))
      out(y) = static_cast<i32>(value_at<Op>(attrs_, in, y, type));
  }

  backend::LegalCall call_;
  typename Op::Attrs attrs_;
  std::shared_ptr<ThreadPool> pool_;
  double element_ns_;
};

}  // namespace lockstep::cpu
