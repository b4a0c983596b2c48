#include "backends/cpu/plans.h"

#include <iterator>
#include <map>

#include "spec/ops.h"

namespace lockstep::cpu {
namespace {

using PlanOf = std::unique_ptr<Plan> (*)(const Arguments&);

template <class... Op> std::map<std::string_view, PlanOf> generic_plans(OperatorList<Op...>) {
  return {{Op::name, &generic_plan<Op>}...};
}

}  // namespace

i64 scratch_most(const backend::LegalCall& call) {
  constexpr i64 kLittle = 4096;
  i64 elements = 0;
  for (const View& x : call.in) elements += volume(x.shape);
  for (const Out& y : call.out) elements += volume(y.shape);
  return 2 * elements * static_cast<i64>(sizeof(i32)) + kLittle;
}

std::span<const Kernel> tuned_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> joined;
    for (const auto& kernels_of_file : kKernelFiles) {
      std::vector<Kernel> kernels = kernels_of_file();
      std::move(kernels.begin(), kernels.end(), std::back_inserter(joined));
    }
    return joined;
  }();
  return all;
}

std::vector<const Kernel*> candidates(
    std::span<const Kernel> kernels, std::string_view op, const Isa& most) {
  std::vector<const Kernel*> best;
  for (const Isa& isa : isas()) {
    std::vector<const Kernel*> found;
    for (const Kernel& k : kernels)
      if (k.op == op && k.isa == isa.name) found.push_back(&k);
    if (!found.empty() && isa.runnable) best = std::move(found);
    if (isa.name == most.name) break;
  }
  return best;
}

std::unique_ptr<Plan> tuned_plan_of(const Arguments& a) {
  if (a.isa)
    for (const Kernel* kernel : candidates(tuned_kernels(), a.call.op->name, *a.isa))
      if (std::unique_ptr<Plan> plan = kernel->plan(a, *kernel)) return plan;
  return nullptr;
}

std::unique_ptr<Plan> plan_of(const Arguments& a) {
  if (std::unique_ptr<Plan> plan = tuned_plan_of(a)) return plan;
  static const std::map<std::string_view, PlanOf> generic = generic_plans(Operators{});
  return generic.at(a.call.op->name)(a);
}

std::vector<backend::Kernel> all_kernels() {
  std::vector<backend::Kernel> all = {{"*", "generic", "portable", true}};
  for (const Kernel& k : tuned_kernels())
    all.push_back({std::string(k.op), k.name, std::string(k.isa), find_isa(k.isa)->runnable});
  return all;
}

}  // namespace lockstep::cpu
