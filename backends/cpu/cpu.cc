#include "backends/cpu/cpu.h"

#include <thread>

#include "backends/bridge.h"
#include "backends/cpu/graph.h"
#include "backends/manifest.h"

namespace lockstep::cpu {
namespace {

using backend::Call, backend::LogicError, backend::number_option, backend::Options;

constexpr int kThreadsMax = 256;

/// The instruction set of the options. @throws LogicError `option.isa`.
const Isa& chosen_isa(const Options& options) {
  const auto it = options.find("isa");
  if (it == options.end()) return best_isa();
  const Isa* isa = find_isa(it->second);
  if (isa && isa->runnable) return *isa;
  std::string runnable;
  for (const Isa& i : isas())
    if (i.runnable) runnable += (runnable.empty() ? "" : ", ") + std::string(i.name);
  throw LogicError("option.isa",
      (isa ? "this machine cannot run the instruction set '"
           : "this build has no kernels for the instruction set '") +
          it->second + "'; it runs " + runnable);
}

int hardware_threads() {
  const auto n = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(n, 1, kThreadsMax);
}

}  // namespace

std::string Cpu::manifest_text(const std::vector<std::string>& options) {
  return backend::manifest_of(
      "cpu", all_kernels(), {.threads = kThreadsMax, .text = true}, options);
}

const char* Cpu::manifest() {
  static const std::string text = manifest_text(option_names());
  return text.c_str();
}

Cpu::Cpu(const Options& options) {
  backend::refuse_options(options, option_names());
  pool_ = std::make_shared<ThreadPool>(
      number_option(options, "threads", 1, kThreadsMax, hardware_threads()));
  const Isa& isa = chosen_isa(options);
  isa_ = number_option(options, "tuned", 0, 1, 1) == 1 ? &isa : nullptr;
}

std::unique_ptr<Plan> Cpu::prepare(const Call& call) {
  Arguments a{backend::legal_call(call), {}, pool_, isa_};
  for (const ls_tensor& t : call.in)
    a.constants.push_back({(t.flags & LS_CONSTANT) ? static_cast<const i32*>(t.dl.data) : nullptr});
  return plan_of(a);
}

std::unique_ptr<Plan> Cpu::compile(const backend::Graph& graph) {
  return graph_plan(graph, pool_, isa_);
}

std::vector<backend::TensorType> Cpu::infer(const Call& call) {
  return backend::inferred_types(call);
}

}  // namespace lockstep::cpu
