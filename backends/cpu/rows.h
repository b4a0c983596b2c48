/// @file
/// Rows of boxes, tensors of shape (B, n, K), in any layout.
#pragma once
#include <algorithm>
#include <utility>

#include "spec/op.h"

namespace lockstep::cpu {

/// Whether the rows of a batch follow each other without a gap.
inline bool has_whole_rows(const auto& y) {
  return (y.dim(2) == 1 || y.stride[2] == 1) && (y.dim(1) == 1 || y.stride[1] == y.dim(2));
}

/// Fills the rows of a batch from `first` on with -1. The batch begins at `at`.
inline void fill_rows(const Out& y, i32* at, i64 first) {
  i64 outer = y.dim(1) - first, inner = y.dim(2), step = y.stride[1], stride = y.stride[2];
  at += first * step;
  if (has_whole_rows(y)) {
    std::fill_n(at, outer * inner, -1);
    return;
  }
  if (step < stride) {
    std::swap(outer, inner);
    std::swap(step, stride);
  }
  for (i64 r = 0; r < outer; ++r)
    for (i64 k = 0; k < inner; ++k) at[r * step + k * stride] = -1;
}

}  // namespace lockstep::cpu
