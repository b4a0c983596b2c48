#include "conformance/properties/forced.h"

namespace lockstep::judge {
namespace {

// A forced ISA is proved to be the one that ran, wherever the backend has a kernel of it.
std::optional<Finding> wrong_kernel(const Trial& t, const std::string& isa, const Answer& a) {
  const std::string op(t.item->call.op->name);
  const KernelInfo* ran = t.manifest->kernel(op, a.path);
  if (!ran) return Finding{"the kernel that ran, '" + a.path + "', is not in the manifest", a.kind};
  if (ran->isa == isa || ran->op == "*") return std::nullopt;
  return Finding{
      "isa=" + isa + " was asked for, and kernel '" + a.path + "' of isa " + ran->isa + " ran",
      a.kind};
}

std::optional<Finding> inspect_isa(const Trial& t) {
  return inspect_forced(t, t.isas, [&](const Forced& forced, const Answer& a) {
    return wrong_kernel(t, forced.value, a);
  });
}

}  // namespace

const Property kIsa{"isa", "every instruction set the backend contains gives the same result",
                    [](const Trial& t) { return !t.isas.empty(); }, inspect_isa};

}  // namespace lockstep::judge
