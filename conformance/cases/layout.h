/// @file
/// Where a tensor's elements lie: strides and offset for each class of layout.
#pragma once
#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A placement in memory, in elements. Strides are > 0 and no two elements share an address.
struct Placement {
  i64 stride[kMaxRank + 1]{};
  i64 offset = 0;     ///< of element (0, ..., 0)
  i64 allocated = 0;  ///< elements of memory, the padding included
};

/// The placement of input `k` of a case, or of output `k`.
Placement place_input(const Type& t, Layout layout, u64 seed, int k);
Placement place_output(const Type& t, Layout layout, u64 seed, int k);

/// Calls f(address) for every element in row-major order.
template <class F> void for_each_address(const Type& t, const Placement& p, F f) {
  if (volume(t.shape) == 0) return;
  Index i = Index::filled(t.rank(), 0);
  // Inner axes whose elements follow each other at one distance are one row.
  int outer = t.rank();
  i64 row = 1, step = 1;
  for (; outer > 0 && (row == 1 || p.stride[outer - 1] == row * step); row *= t.dim(--outer))
    if (row == 1) step = p.stride[outer - 1];
  for (i64 n = volume(t.shape) / row, at = p.offset; n > 0; --n) {
    if (step == 1)
      for (i64 k = 0; k < row; ++k) f(at + k);  // a loop that compilers vectorize
    else
      for (i64 k = 0; k < row; ++k) f(at + k * step);
    for (int d = outer - 1; d >= 0; --d) {
      at += p.stride[d];
      if (++i[d] < t.dim(d)) break;
      at -= p.stride[d] * t.dim(d);
      i[d] = 0;
    }
  }
}

}  // namespace lockstep::judge
