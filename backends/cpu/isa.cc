#include "backends/cpu/isa.h"

namespace lockstep::cpu {

std::span<const Isa> isas() {
  static const Isa all[] = {
      {"portable", true},
#ifdef __x86_64__
// Also checks that the operating system saves the registers.
#define LOCKSTEP_HAS(feature) static_cast<bool>(__builtin_cpu_supports(feature))
      {"sse4", LOCKSTEP_HAS("sse4.2")},
      {"avx2", LOCKSTEP_HAS("avx2")},
      {"avx512",
          LOCKSTEP_HAS("avx512f") && LOCKSTEP_HAS("avx512vl") && LOCKSTEP_HAS("avx512dq") &&
              LOCKSTEP_HAS("avx512bw")},
      {"avx512vnni",
          LOCKSTEP_HAS("avx512bw") && LOCKSTEP_HAS("avx512vl") && LOCKSTEP_HAS("avx512vnni")},
#undef LOCKSTEP_HAS
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
