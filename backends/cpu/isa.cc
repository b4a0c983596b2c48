#include "backends/cpu/kernels.h"

namespace lockstep::cpu {

std::span<const Isa> isas() {
  static const Isa all[] = {
      {"portable", true},
#ifdef __x86_64__
      // Also checks that the operating system saves the registers.
      {"avx2", static_cast<bool>(__builtin_cpu_supports("avx2"))},
#endif
  };
  return all;
}

const Isa* find_isa(std::string_view name) {
  for (const Isa& isa : isas())
    if (isa.name == name) return &isa;
  return nullptr;
}

const Isa& best_isa() {
  const Isa* best = nullptr;
  for (const Isa& isa : isas())
    if (isa.runnable) best = &isa;
  return *best;
}

}  // namespace lockstep::cpu
