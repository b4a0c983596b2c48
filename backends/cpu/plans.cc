#include "backends/cpu/plans.h"

#include "spec/ops.h"

namespace lockstep::cpu {
namespace {

struct Row {
  const OpInfo* op;
  std::unique_ptr<Plan> (*plan)(const Arguments&);
};

template <class... Op>
std::vector<Row> rows(OperatorList<Op...>) {
  return {{&info<Op>(), &plan<Op>}...};
}

template <class Op>
void add_tuned(std::vector<backend::Kernel>& kernels) {
  if constexpr (Tuned<Op>)
    for (const Isa& isa : isas())
      kernels.push_back(
          {std::string(Op::name), kernel_name<Op>(isa), std::string(isa.name), isa.runnable});
}

template <class... Op>
void add_all_tuned(std::vector<backend::Kernel>& kernels, OperatorList<Op...>) {
  (add_tuned<Op>(kernels), ...);
}

}  // namespace

std::unique_ptr<Plan> plan_of(const Arguments& a) {
  static const std::vector<Row> all = rows(Operators{});
  for (const Row& row : all)
    if (row.op == a.call.op) return row.plan(a);
  throw backend::Unsupported("no plan for " + std::string(a.call.op->name));
}

std::vector<backend::Kernel> all_kernels() {
  std::vector<backend::Kernel> kernels = {{"*", "generic", "portable", true}};
  add_all_tuned(kernels, Operators{});
  return kernels;
}

}  // namespace lockstep::cpu
