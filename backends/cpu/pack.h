/// @file
/// Packing for the dot products of dot.h.
#pragma once
#include "backends/cpu/dot.h"
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

}  // namespace lockstep::cpu
