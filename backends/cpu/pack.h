/// @file
/// What conv2d and dense share: packing for the dot products of dot.h, and their kernels.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/dot.h"
#include "backends/cpu/kernels.h"
#include "spec/arithmetic.h"

namespace lockstep::cpu {

/// The approximate time to pack an element.
inline constexpr double kPackNs = 0.4;

/// Two terms; values of at most 16 bits.
inline Pair pair_of(i32 a, i32 b) {
  return (static_cast<Pair>(a) & 0xffffU) | static_cast<Pair>(b) << 16;
}

/// The sum of two values of a legal call. Unsigned arithmetic avoids undefined behaviour for a
/// value beyond its declared precision.
inline i32 add(i32 a, i32 b) {
  return static_cast<i32>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// A kernel of `Op` for each instruction set that has tiles.
template <class Op> std::vector<Kernel> dot_kernels(
    std::unique_ptr<Plan> (*plan)(const Arguments&, const Kernel&, const DotKernels&)) {
  std::vector<Kernel> all;
  for (const DotKernels* dot : {&dot_portable(),
#ifdef __x86_64__
           &dot_avx2()
#endif
       })
    all.push_back({Op::name, dot->isa, std::string(Op::name) + "_" + dot->isa,
        [=](const Arguments& a, const Kernel& k) { return plan(a, k, *dot); }});
  return all;
}

}  // namespace lockstep::cpu
