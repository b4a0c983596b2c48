/// @file
/// Tiles in plain C++, in the form that compilers vectorize for the baseline of any machine:
/// widening products of int16 lanes, even and odd terms kept apart until the end.
#include <cstring>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {
namespace {

constexpr int kTerms = 2 * kLanes;  // int16 values of a slot

template <int R>
void one_slot(const Pair* row, const int32_t* offset, int64_t terms, const Pair* slot,
              int32_t* tile) {
  // Unsigned: lanes beyond an output's edge hold anything and may wrap.
  uint32_t sum[R][kTerms] = {};
  for (int64_t t = 0; t < terms; ++t, row += R) {
    int16_t x[kTerms];
    std::memcpy(x, slot + offset[t], sizeof x);
    for (int r = 0; r < R; ++r) {
      const Pair repeated[kLanes] = {row[r], row[r], row[r], row[r],
                                     row[r], row[r], row[r], row[r]};
      int16_t w[kTerms];
      std::memcpy(w, repeated, sizeof w);
      for (int i = 0; i < kTerms; ++i) sum[r][i] += static_cast<uint32_t>(int32_t{w[i]} * x[i]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int i = 0; i < kLanes; ++i)
      tile[r * kSlots * kLanes + i] = static_cast<int32_t>(sum[r][2 * i] + sum[r][2 * i + 1]);
}

template <int R>
void tile_of(const Pair* row, const int32_t* offset, int64_t terms, const Pair* slot0,
             const Pair* slot1, int32_t* tile) {
  one_slot<R>(row, offset, terms, slot0, tile);
  if (slot1 != slot0) one_slot<R>(row, offset, terms, slot1, tile + kLanes);
}

constexpr DotKernels kKernels = {2, {tile_of<1>, tile_of<2>}, 10};

}  // namespace

const DotKernels& dot_portable() { return kKernels; }

}  // namespace lockstep::cpu
