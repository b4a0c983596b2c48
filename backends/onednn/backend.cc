/// @file
/// An adapter around oneDNN, an independent implementation. It claims everything that oneDNN's
/// documentation does not exclude, copies tensors, and computes nothing itself.
#include <string>

#include "backends/manifest.h"
#include "backends/onednn/job.h"

namespace lockstep::onednn {
namespace {

using backend::LogicError;
using backend::Options;

constexpr int kThreadsMax = 1024;

struct NamedIsa {
  std::string_view name;
  dnnl::cpu_isa isa;
};

constexpr NamedIsa kIsas[] = {{"sse41", dnnl::cpu_isa::sse41}, {"avx", dnnl::cpu_isa::avx},
    {"avx2", dnnl::cpu_isa::avx2}, {"avx512_core", dnnl::cpu_isa::avx512_core},
    {"avx512_core_vnni", dnnl::cpu_isa::avx512_core_vnni}};

// Limits the instruction sets of oneDNN, which chooses once per process, at its first use.
void use_at_most(std::string_view name) {
  std::string known;
  for (const NamedIsa& row : kIsas) {
    known += " " + std::string(row.name);
    if (row.name != name) continue;
    dnnl::set_max_cpu_isa(row.isa);
    const auto wanted = static_cast<unsigned>(row.isa);
    const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    if (used == wanted) return;
    if ((used & wanted) == wanted)
      throw std::runtime_error("oneDNN is in use in this process and no longer to be capped");
    throw LogicError(
        "option.max_isa", "oneDNN cannot use " + std::string(name) + " on this machine");
  }
  throw LogicError("option.max_isa", "no isa '" + std::string(name) + "'; oneDNN has" + known);
}

std::string version() {
  const dnnl_version_t& v = *dnnl_version();
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
}

std::string manifest_text() {
  std::string kernels, claims;
  for (const Adaptation& row : rows_of_operators()) {
    const std::string op = '"' + std::string(row.op) + '"';
    kernels += (kernels.empty() ? "" : ", ") + (R"({"op": )" + op) + R"(, "name": ")" +
        row.primitive + R"(", "isa": "oneDNN", "runnable": true})";
    claims += (claims.empty() ? "" : ", ") + op + ": " + std::string(row.claim);
  }
  return R"({"schema": 1, "name": "oneDNN", "version": ")" + version() +
      R"(", "device": "CPU", "options": ["max_isa", "threads"], "kernels": [)" + kernels +
      R"(], "claims": {"operators": {)" + claims +
      R"(}, "layouts": ["compact"], "determinism": "D2", "errors": "none"}})";
}

class OneDnn {
 public:
  static const char* manifest() {
    static const std::string text = manifest_text();
    return text.c_str();
  }
  explicit OneDnn(const Options& options) {
    backend::refuse_options(options, {"max_isa", "threads"});
    if (const auto isa = options.find("max_isa"); isa != options.end()) use_at_most(isa->second);
    device_.threads = backend::number_option(options, "threads", 1, kThreadsMax, 0);
  }
  std::unique_ptr<backend::Plan> prepare(const backend::Call& call) {
    device_.use_threads();
    for (const Adaptation& row : rows_of_operators())
      if (row.op == call.op) return row.prepare(device_, call, row);
    throw backend::Unsupported("oneDNN has no " + std::string(call.op));
  }

 private:
  Device device_;
};

}  // namespace
}  // namespace lockstep::onednn

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::onednn::OneDnn>(); }
