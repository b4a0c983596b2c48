/// @file
/// The executable specification as a backend: the suite judges its own oracle like any backend.
#include "backends/manifest.h"
#include "backends/reference/plan.h"

namespace lockstep::backend {
namespace {

class Reference {
 public:
  static const char* manifest() {
    static const std::string text =
        manifest_of("reference", {{"*", "specification", "portable", true}}, {.text = true});
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
