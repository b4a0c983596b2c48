/// @file
/// Counter-based integer randomness: the value at a position does not depend on what was drawn
/// before. Normative for the recipes of golden vectors (vectors/FORMAT.md).
#pragma once
#include <cstdint>

#include "spec/op.h"

namespace lockstep {

using u64 = std::uint64_t;

/// SplitMix64's finalizer: a bijection of 64-bit integers that mixes every bit.
constexpr u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The random word at coordinates (seed, a, b).
constexpr u64 word(u64 seed, u64 a, u64 b) { return mix(mix(mix(seed) + a) + b); }

/// An integer of lo..hi from a random word; both ends included, hi - lo < 2^63.
constexpr i64 within(u64 w, i64 lo, i64 hi) {
  const u64 n = static_cast<u64>(hi) - static_cast<u64>(lo) + 1;
  return static_cast<i64>(static_cast<u64>(lo) + w % n);
}

/// Draws from a seed.
struct Seeded : Draw {
  constexpr explicit Seeded(u64 s) : seed(s) {}
  constexpr i64 operator()(i64 lo, i64 hi) override {
    return within(word(seed, 0, count++), lo, hi);
  }
  u64 seed, count = 0;
};

}  // namespace lockstep
