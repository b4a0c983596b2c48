/// @file
/// Kernels from one text for all instruction sets, with Highway. A source names itself as
/// HWY_TARGET_INCLUDE, includes hwy/foreach_target.h and then hwy/highway.h, and writes its kernels
/// in `lockstep::cpu::HWY_NAMESPACE`; what follows `#if HWY_ONCE` is compiled once.
#pragma once
#include <cstddef>
#include <string_view>

#include "backends/cpu/isa.h"

namespace lockstep::cpu {

/// What Highway compiled for an instruction set of isa.h.
template <class F> struct Target {
  std::string_view isa;
  F* function;  ///< nullptr if it compiled none
};

/// The function of the best instruction set that is no better than `most` and has one.
template <class F, std::size_t kCount>
F* best_target(const Target<F> (&targets)[kCount], const Isa& most) {
  F* best = nullptr;
  for (const Isa& isa : isas()) {
    for (const Target<F>& t : targets)
      if (t.isa == isa.name && t.function && isa.runnable) best = t.function;
    if (isa.name == most.name) break;
  }
  return best;
}

}  // namespace lockstep::cpu

/// The initializers of an array of Target: a function of HWY_NAMESPACE for each instruction set.
#ifdef __x86_64__
#define LOCKSTEP_TARGETS(f)                                           \
  {"portable", HWY_CHOOSE_FALLBACK(f)}, {"sse4", HWY_CHOOSE_SSE4(f)}, \
      {"avx2", HWY_CHOOSE_AVX2(f)}, {                                 \
    "avx512", HWY_CHOOSE_AVX3(f)                                      \
  }
#elif defined(__aarch64__)
#define LOCKSTEP_TARGETS(f) \
  {"portable", HWY_CHOOSE_FALLBACK(f)}, { "neon", HWY_CHOOSE_NEON(f) }
#else
#define LOCKSTEP_TARGETS(f) \
  { "portable", HWY_CHOOSE_FALLBACK(f) }
#endif
