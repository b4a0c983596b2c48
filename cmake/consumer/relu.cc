/// @file
/// A backend as a user writes it: one operator, built with only the installed headers.
#include <algorithm>

#include "backends/backend.hpp"

// The project also builds it with 1, which is a mistake.
#ifndef SMALLEST
#define SMALLEST 0
#endif

namespace {

using namespace lockstep::backend;

struct ReluPlan : Plan {
  int64_t count;
  explicit ReluPlan(int64_t n) : count(n) {}

  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    for (int64_t i = 0; i < count; ++i) out[0][i] = std::max(in[0][i], SMALLEST);
  }
  const char* path() const override { return "loop"; }
};

class Relu {
 public:
  static const char* manifest() {
    return R"({"schema": 1, "name": "relu", "version": "1.0.0", "device": "CPU", "options": [],
      "kernels": [{"op": "relu", "name": "loop", "isa": "portable", "runnable": true}],
      "claims": {"operators": {"relu": {}}, "layouts": ["compact"], "determinism": "D2",
                 "errors": "none"}})";
  }
  explicit Relu(const Options& options) {
    if (!options.empty()) throw LogicError("option.unknown", "relu has no options");
  }
  std::unique_ptr<Plan> prepare(const Call& call) {
    if (call.op != "relu") throw Unsupported("only relu");
    if (!compact(call.in[0]) || !compact(call.out[0])) throw Unsupported("only compact tensors");
    return std::make_unique<ReluPlan>(volume(call.in[0]));
  }
};

}  // namespace

const ls_api* lockstep_backend_v1() { return table<Relu>(); }
