/// @file
/// The inner loops of reductions, for every instruction set.
#pragma once
#include "backends/cpu/isa.h"
#include "spec/arithmetic.h"

namespace lockstep::cpu {

/// `count` times `rows` rows of n elements that follow each other in memory, and how far apart the
/// rows and their accumulators are. A step of 0 accumulates them together.
struct Rows {
  i64 n;
  i64 rows, x_row, acc_row;
  i64 count, x_outer, acc_outer;
};
using Accumulate = void(const Rows& r, i32* acc, const i32* x);

/// Two ways to accumulate rows: `kept`, element by element into n accumulators; `reduced`, all
/// elements into one. Accumulators begin as the identity.
struct Reducer {
  i32 identity;
  Accumulate *kept, *reduced;
};

/// The reducers of sum and max: the functions of the best instruction set that is no better than
/// `most` and has them.
Reducer adding(const Isa& most);
Reducer largest(const Isa& most);

}  // namespace lockstep::cpu
