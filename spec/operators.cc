#include "spec/operators.h"

#include "spec/ops.h"

namespace lockstep {
namespace {

template <class... Op> std::vector<const OpInfo*> rows(OperatorList<Op...>) {
  return {&info<Op>()...};
}

}  // namespace

const std::vector<const OpInfo*>& operators() {
  static const std::vector<const OpInfo*> all = rows(Operators{});
  return all;
}

const OpInfo* find_operator(string_view name) {
  for (const OpInfo* op : operators())
    if (op->name == name || (!op->alias.empty() && op->alias == name)) return op;
  return nullptr;
}

}  // namespace lockstep
