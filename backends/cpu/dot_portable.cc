/// @file
/// Tiles for any machine, with vector types that g++ and clang++ map to its baseline instructions.
#include <cstring>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {
namespace {

// Unsigned, because lanes beyond an output's edge hold arbitrary values and may wrap.
using Shorts [[gnu::vector_size(16)]] = uint16_t;
using Words [[gnu::vector_size(16)]] = uint32_t;
using SignedWords [[gnu::vector_size(16)]] = int32_t;

constexpr int kVectorPairs = 4, kVectors = kSlots * kLanes / kVectorPairs;

inline Shorts load(const Pair* p) {
  Shorts v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline Shorts broadcast(Pair p) { return reinterpret_cast<Shorts>(Words{p, p, p, p}); }

/// Adds both signed halves of each word.
inline void add_halves(Words& sum, Shorts halves) {
  const auto low = reinterpret_cast<SignedWords>(reinterpret_cast<Words>(halves) << 16) >> 16;
  const auto high = reinterpret_cast<SignedWords>(halves) >> 16;
  sum += reinterpret_cast<Words>(low) + reinterpret_cast<Words>(high);
}

/// Computes two terms at a time: two products of 8-bit values add up to at most 2 * 127 * 127 <
/// 2^15, so that 16-bit multiply and add are exact where no widening product exists.
template <int R> void tile_of(const Pair* row, const int32_t* offset, int64_t terms,
    const Pair* slot0, const Pair* slot1, int32_t* tile) {
  static constexpr Pair kNothing[kLanes] = {};
  Words sum[R][kVectors] = {};
  for (int64_t t = 0; t < terms; t += 2, row += int64_t{2} * R) {
    const bool is_pair = t + 1 < terms;
    const Pair* x[kSlots] = {slot0 + offset[t], slot1 + offset[t]};
    const Pair* next[kSlots] = {
        is_pair ? slot0 + offset[t + 1] : kNothing, is_pair ? slot1 + offset[t + 1] : kNothing};
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Shorts w = broadcast(row[r]), next_w = broadcast(is_pair ? row[R + r] : 0);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        constexpr int kPerSlot = kLanes / kVectorPairs;
        const int slot = v / kPerSlot;
        const int64_t lane = int64_t{v} % kPerSlot * kVectorPairs;
        add_halves(sum[r][v], w * load(x[slot] + lane) + next_w * load(next[slot] + lane));
      }
    }
  }
  std::memcpy(tile, sum, sizeof sum);
}

constexpr DotKernels kKernels = {"portable", 2, {tile_of<1>, tile_of<2>}, 15};

}  // namespace

const DotKernels& dot_portable() { return kKernels; }

}  // namespace lockstep::cpu
