// A whole backend: relu for compact tensors. Built as the shared library relu.so it is judged by
//   lockstep check ./relu.so
#include "backends/backend.hpp"

namespace {

using namespace lockstep::backend;

struct Relu : Plan {
  explicit Relu(int64_t n) : count(n) {}
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    for (int64_t i = 0; i < count; ++i) out[0][i] = in[0][i] > 0 ? in[0][i] : 0;
  }
  const char* path() const override { return "relu_loop"; }
  int64_t count;
};

class Mine {
 public:
  // The manifest claims relu on compact tensors and promises no error labels.
  static const char* manifest() {
    return R"({"name": "mine", "version": "1.0", "device": "CPU",
      "kernels": [{"op": "relu", "name": "relu_loop", "isa": "portable", "runnable": true}],
      "claims": {"operators": {"relu": {}}, "layouts": ["compact"],
                 "determinism": "D2", "errors": "none"}})";
  }
  explicit Mine(const Options& options) {
    if (!options.empty()) throw LogicError("option.unknown", "there are no options");
  }
  std::unique_ptr<Plan> prepare(const Call& call) {
    if (call.op != "relu" || !compact(call.in[0])) throw Unsupported("only relu, only compact");
    return std::make_unique<Relu>(volume(call.in[0]));
  }
};

}  // namespace

const ls_api* lockstep_backend_v1() { return table<Mine>(); }
