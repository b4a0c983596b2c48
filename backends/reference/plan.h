/// @file
/// A call that is computed by the specification's text.
#pragma once
#include "backends/bridge.h"
#include "reference/evaluate.h"

namespace lockstep::backend {

class SpecificationPlan : public Plan {
 public:
  explicit SpecificationPlan(const Call& call) : call_(legal_call(call)) {}

  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    std::vector<reference::Tensor> x;
    for (const View& v : bound(call_.in, in)) {
      reference::Tensor t{v, {}};
      for (i64 e = 0, n = lockstep::volume(v.shape); e < n; ++e) t.data.push_back(v.element(e));
      x.push_back(std::move(t));
    }
    const auto y = reference::outputs(*call_.op, call_.attributes(), x);
    const std::vector<Out> results = bound(call_.out, out);
    for (std::size_t k = 0; k < y.size(); ++k)
      for (std::size_t e = 0; e < y[k].data.size(); ++e)
        results[k].element(static_cast<i64>(e)) = y[k].data[e];
  }
  const char* path() const override { return "specification"; }

 protected:
  LegalCall call_;
};

}  // namespace lockstep::backend
