/// @file
/// The executable specification as a backend: the suite judges its own oracle like any backend.
#include "backends/bridge.h"
#include "backends/manifest.h"
#include "reference/evaluate.h"

namespace lockstep::backend {
namespace {

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

 private:
  LegalCall call_;
};

class Reference {
 public:
  static const char* manifest() {
    static const std::string text =
        manifest_of("reference", {{"*", "specification", "portable", true}}, Claims{});
    return text.c_str();
  }
  explicit Reference(const Options& options) { refuse_options(options); }
  std::unique_ptr<Plan> prepare(const Call& call) {
    return std::make_unique<SpecificationPlan>(call);
  }
  std::vector<TensorType> infer(const Call& call) { return inferred_types(call); }
};

}  // namespace
}  // namespace lockstep::backend

const ls_api* lockstep_backend_v1() {
  return lockstep::backend::table<lockstep::backend::Reference>();
}
