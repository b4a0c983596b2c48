/// @file
/// A backend that claims everything and computes nothing; the suite must fail it.
#include "backends/bridge.h"
#include "backends/manifest.h"

namespace lockstep::backend {
namespace {

struct NothingPlan : Plan {
  void run(const int32_t* const*, int32_t* const*, void*) const override {}
  const char* path() const override { return "nothing"; }
};

class Null {
 public:
  static const char* manifest() {
    static const std::string text =
        manifest_of("null", {{"*", "nothing", "portable", true}}, Claims{});
    return text.c_str();
  }
  explicit Null(const Options& options) { refuse_options(options); }
  std::unique_ptr<Plan> prepare(const Call&) { return std::make_unique<NothingPlan>(); }
};

}  // namespace
}  // namespace lockstep::backend

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::backend::Null>(); }
