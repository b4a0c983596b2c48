#pragma once
#include <algorithm>
#include <set>

#include "conformance/trial/properties/forced.h"

namespace lockstep::judge {

/// Whether an operator has a kernel of an instruction set that can run here.
inline bool has_kernel(const Manifest& m, const std::string& op, const std::string& isa) {
  return std::any_of(m.kernels.begin(), m.kernels.end(),
      [&](const KernelInfo& k) { return k.runnable && k.op == op && k.isa == isa; });
}

/// The instruction sets of the kernels that can run here, if there are several, and the kernels for
/// all operators, which otherwise run only where an operator has none of its own.
inline std::vector<Forced> isas_to_force(const Manifest& m) {
  std::set<std::string> isas;
  for (const KernelInfo& k : m.kernels)
    if (k.runnable) isas.insert(k.isa);
  std::vector<Forced> all;
  if (m.has_option("isa") && isas.size() > 1)
    for (const std::string& isa : isas) all.push_back({"isa", isa});
  if (m.has_option("tuned")) all.push_back({"tuned", "0"});
  return all;
}

/// Each instruction set may treat constants in its own way, so every second case has constants. A
/// large case is put only to sets of which its operator has kernels.
inline void ask_isas(Probe& p) {
  const bool constants = p.weighted() && p.call().seed % 2 == 1;
  for (const Forced& f : p.forced())
    if (!p.large() || f.option == "tuned" ||
        has_kernel(p.manifest(), std::string(p.call().op->name), f.value))
      p.ask({.poison = kPoison, .config = f.config, .constants = constants}, f);
}

/// A kernel of another instruction set may run only where the operator has none of the forced one.
inline std::optional<Finding> inspect_isas(const Trial& t, Observations seen) {
  const std::string op(t.item->call.op->name);
  return inspect_forced(
      t, seen, [&](const Forced& forced, const Answer& a) -> std::optional<Finding> {
        const KernelInfo* ran = t.manifest->kernel(op, a.path);
        if (!ran)
          return Finding{"the kernel that ran, '" + a.path + "', is not in the manifest", a.kind};
        if (ran->isa == forced.value || ran->op == "*" ||
            (forced.option == "isa" && !has_kernel(*t.manifest, op, forced.value)))
          return std::nullopt;
        return Finding{forced.option + "=" + forced.value + " was asked for, and kernel '" +
                a.path + "' of isa " + ran->isa + " ran",
            a.kind};
      });
}

inline constexpr Property kIsa{.name = "isa",
    .text = "every instruction set, and no tuned kernel at all, gives the same result",
    .forced = isas_to_force,
    .ask = ask_isas,
    .inspect = inspect_isas,
    .plant = flip_observed};

}  // namespace lockstep::judge
