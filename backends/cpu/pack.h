/// @file
/// Packing for the dot products of dot.h.
#pragma once
#include "backends/cpu/dot.h"
#include "spec/arithmetic.h"

namespace lockstep::cpu {

/// What packing an element takes, roughly.
inline constexpr double kPackNs = 0.4;

/// Two terms; values of at most 16 bits.
inline Pair pair_of(i32 a, i32 b) {
  return (static_cast<Pair>(a) & 0xffffU) | static_cast<Pair>(b) << 16;
}

/// Sum of two values of a legal call. Unsigned, so that a value beyond its declared precision gives
/// a wrong result and not undefined behaviour.
inline i32 add(i32 a, i32 b) {
  return static_cast<i32>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

}  // namespace lockstep::cpu
