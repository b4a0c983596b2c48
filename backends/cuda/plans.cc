#include "backends/cuda/plans.h"

#include <map>

#include "backends/cuda/families.h"
#include "backends/cuda/launch.h"
#include "spec/ops.h"

namespace lockstep::cuda {
namespace {

constexpr const char* kGeneric = "generic";

using LaunchOf = void (*)(const Launch&);

template <class... Op> std::map<std::string_view, LaunchOf> launches(OperatorList<Op...>) {
  return {{Op::name, &launch<Op>}...};
}

// Runs an operator's specification. Scratch memory holds the input views of a variadic operator.
class Generic : public DevicePlan {
 public:
  Generic(const Arguments& a, LaunchOf launch) : a_(a), launch_(launch) {}

  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    const std::vector<View> x = backend::bound(a_.call.in, in);
    const std::vector<Out> y = backend::bound(a_.call.out, out);
    auto* const on = static_cast<cudaStream_t>(stream);
    if (const uint64_t bytes = scratch_bytes()) a_.device->send(scratch, x.data(), bytes, on);
    a_.device->use([&] {
      launch_({a_.call.attributes(), {x.data(), static_cast<int>(x.size())},
          {y.data(), static_cast<int>(y.size())}, static_cast<const View*>(scratch), a_.block, on});
    });
  }
  const char* path() const override { return kGeneric; }
  uint64_t scratch_bytes() const override {
    const Span<Port>& ports = a_.call.op->inputs;
    const bool is_variadic = ports[ports.size() - 1].arity == Arity::variadic;
    return is_variadic ? a_.call.in.size() * sizeof(View) : 0;
  }

 private:
  Arguments a_;
  LaunchOf launch_;
};

const std::vector<Kernel>& tuned_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> joined;
    for (const auto& family : kFamilies)
      for (Kernel& k : family()) joined.push_back(std::move(k));
    return joined;
  }();
  return all;
}

}  // namespace

std::unique_ptr<DevicePlan> plan_of(const Arguments& a) {
  if (a.is_tuned)
    for (const Kernel& k : tuned_kernels())
      if (k.op == a.call.op->name)
        if (std::unique_ptr<DevicePlan> plan = k.plan(a, k.name)) return plan;
  static const std::map<std::string_view, LaunchOf> all = launches(Operators{});
  return std::make_unique<Generic>(a, all.at(a.call.op->name));
}

bool sends_views(const DevicePlan& plan) {
  return dynamic_cast<const Generic*>(&plan) && plan.scratch_bytes() > 0;
}

std::vector<backend::Kernel> all_kernels(bool runnable) {
  std::vector<backend::Kernel> all = {{"*", kGeneric, "cuda", runnable}};
  for (const Kernel& k : tuned_kernels())
    all.push_back({std::string(k.op), k.name, "cuda", runnable});
  return all;
}

}  // namespace lockstep::cuda
