#include "backends/cpu/isa.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace lockstep::cpu {
namespace {

#ifdef LOCKSTEP_CPU_AVX2
// The registers that the operating system saves: bit 1 is XMM, bit 2 YMM.
uint64_t saved_registers() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// The processor's word alone is not enough: a kernel that does not save YMM registers makes every
// AVX2 instruction illegal.
bool has_avx2() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  const bool has_xgetbv = (c & bit_OSXSAVE) != 0, has_avx = (c & bit_AVX) != 0;
  if (!has_xgetbv || !has_avx || (saved_registers() & 6) != 6) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2) != 0;
}
#endif

}  // namespace

std::span<const Isa> isas() {
  static const Isa all[] = {
      {"portable", &dot_portable(), true},
#ifdef LOCKSTEP_CPU_AVX2
      {"avx2", &dot_avx2(), has_avx2()},
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
