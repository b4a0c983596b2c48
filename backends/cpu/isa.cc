#include "backends/cpu/isa.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace lockstep::cpu {
namespace {

#ifdef __x86_64__
// Also checks that the operating system saves the registers.
#define LOCKSTEP_HAS(feature) static_cast<bool>(__builtin_cpu_supports(feature))

// Not every compiler of ours knows this feature by name. Its registers are those of AVX2.
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1U) != 0;
}

// A system that saves the tiles lets a process use them if it asks.
bool has_amx() {
  constexpr unsigned kFeatures = 7, kTilesAndInt8 = 3U << 24;
  constexpr int kAskForPermission = 0x1023, kTiles = 18;  // asm/prctl.h of Linux 5.16
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 &&
      (d & kTilesAndInt8) == kTilesAndInt8 &&
      syscall(SYS_arch_prctl, kAskForPermission, kTiles) == 0;
}
#elif defined(__aarch64__)
bool has_dotprod() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }

// The bytes of a vector of SVE in this process, or 0 without SVE.
int sve_bytes() {
  const int answer = prctl(PR_SVE_GET_VL);
  return answer < 0 ? 0 : answer & PR_SVE_VL_LEN_MASK;
}
#endif

}  // namespace

std::span<const Isa> isas() {
  static const Isa all[] = {
#define LOCKSTEP_ISA(name, options, Type, kernels, runs) {#name, runs},
#include "backends/cpu/isas.def"
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
