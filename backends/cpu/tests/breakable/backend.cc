/// @file
/// The CPU backend with one kernel broken: `broken=NAME` changes a bit of the first result of every
/// plan that runs that kernel, and of no other.
#include "backends/cpu/cpu.h"
#include "backends/manifest.h"

namespace lockstep::cpu {
namespace {

class BrokenPlan : public Plan {
 public:
  explicit BrokenPlan(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    plan_->run(in, out, scratch);
    out[0][0] ^= 1;
  }
  const char* path() const override { return plan_->path(); }
  uint64_t scratch_bytes() const override { return plan_->scratch_bytes(); }

 private:
  std::unique_ptr<Plan> plan_;
};

class BreakableCpu {
 public:
  static const char* manifest() {
    static const std::string text = [] {
      std::vector<std::string> options = Cpu::option_names();
      options.emplace_back("broken");
      return Cpu::manifest_text(options);
    }();
    return text.c_str();
  }
  explicit BreakableCpu(const backend::Options& options) : cpu_(without_broken(options)) {
    const auto at = options.find("broken");
    if (at == options.end()) return;
    broken_ = at->second;
    for (const backend::Kernel& k : all_kernels())
      if (k.name == broken_) return;
    throw backend::LogicError("option.broken", "no kernel '" + broken_ + "'");
  }
  std::unique_ptr<Plan> prepare(const backend::Call& call) {
    std::unique_ptr<Plan> plan = cpu_.prepare(call);
    if (plan->path() != broken_) return plan;
    return std::make_unique<BrokenPlan>(std::move(plan));
  }
  std::vector<backend::TensorType> infer(const backend::Call& call) { return cpu_.infer(call); }
  int threads() const { return cpu_.threads(); }

 private:
  static backend::Options without_broken(backend::Options o) {
    o.erase("broken");
    return o;
  }

  Cpu cpu_;
  std::string broken_;
};

}  // namespace
}  // namespace lockstep::cpu

const ls_api* lockstep_backend_v1() {
  return lockstep::backend::table<lockstep::cpu::BreakableCpu>();
}
