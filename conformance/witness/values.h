/// @file
/// The work of one thread of a witness, for devices and, in tests, for the host.
#pragma once
#include "conformance/witness/witness.h"
#include "spec/values.h"

namespace lockstep::judge {

/// The input of output number `k` of the range.
constexpr i64 input_of(const ValueRange& r, i64 k) { return r.first + k - max_of(r.precision); }

constexpr bool is_value(const ValueRange& r, i64 k) { return k >= 0 && k < r.values; }

/// Lays the words of one of several threads.
struct LayWords {
  ValueRange range;

  constexpr ValueTally operator()(i64 thread, i64 threads) const {
    const ValueRange& r = range;
    for (i64 w = thread; w < r.words(); w += threads) {
      const i64 k = w - kWitnessBeside;
      r.x[w] = is_value(r, k) ? static_cast<i32>(input_of(r, k)) : r.poison;
      r.y[w] = r.poison;
    }
    return {};
  }
};

/// Compares the words of one of several threads.
template <class Op> struct CompareWords {
  typename Op::Attrs attrs;
  ValueRange range;

  constexpr ValueTally operator()(i64 thread, i64 threads) const {
    const ValueRange& r = range;
    ValueTally t;
    for (i64 w = thread; w < r.words(); w += threads) {
      const i64 k = w - kWitnessBeside;
      const i32 x = r.x[w], y = r.y[w];
      if (!is_value(r, k)) {
        t.beside += (x != r.poison) + (y != r.poison);
        continue;
      }
      t.beside += x != input_of(r, k);
      t.sum += value_sum(r.first + k, y);
      if (y != output_of<Op>(attrs, input_of(r, k)) && t.wrong++ == 0) t.place = k, t.got = y;
    }
    return t;
  }
};

}  // namespace lockstep::judge
