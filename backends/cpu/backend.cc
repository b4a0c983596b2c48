/// @file
/// The CPU backend: every operator in parallel, conv2d and dense tuned once for any machine and
/// once for AVX2.
#include <thread>

#include "backends/bridge.h"
#include "backends/cpu/plans.h"
#include "backends/manifest.h"

namespace lockstep::cpu {
namespace {

using backend::Call, backend::LogicError, backend::number_option, backend::Options;

constexpr int kThreadsMax = 256;

/// The instruction set that the options ask for. @throws LogicError `option.isa`.
const Isa& chosen_isa(const Options& options) {
  const auto it = options.find("isa");
  if (it == options.end()) return best_isa();
  const Isa* isa = find_isa(it->second);
  if (isa && isa->runnable) return *isa;
  std::string runnable;
  for (const Isa& i : isas())
    if (i.runnable) runnable += (runnable.empty() ? "" : ", ") + std::string(i.name);
  throw LogicError("option.isa", (isa ? "this machine cannot run the instruction set '"
                                      : "this build has no kernels for the instruction set '") +
                                     it->second + "'; it runs " + runnable);
}

int hardware_threads() {
  const auto n = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(n, 1, kThreadsMax);
}

class Cpu {
 public:
  static const char* manifest() {
    static const std::string text =
        backend::manifest_of("cpu", all_kernels(), backend::Claims{}, option_names());
    return text.c_str();
  }
  explicit Cpu(const Options& options) {
    backend::refuse_options(options, option_names());
    pool_ = std::make_shared<Pool>(
        number_option(options, "threads", 1, kThreadsMax, hardware_threads()));
    const Isa& isa = chosen_isa(options);
    isa_ = number_option(options, "tuned", 0, 1, 1) == 1 ? &isa : nullptr;
  }
  std::unique_ptr<Plan> prepare(const Call& call) {
    Arguments a{backend::legal_call(call), {}, pool_, isa_};
    for (const ls_tensor& t : call.in)
      a.constants.push_back((t.flags & LS_CONSTANT) ? static_cast<const i32*>(t.dl.data) : nullptr);
    return plan_of(a);
  }
  std::vector<backend::TensorType> infer(const Call& call) { return backend::inferred_types(call); }

 private:
  static std::vector<std::string> option_names() { return {"isa", "threads", "tuned"}; }

  std::shared_ptr<Pool> pool_;
  const Isa* isa_ = nullptr;
};

}  // namespace
}  // namespace lockstep::cpu

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::cpu::Cpu>(); }
