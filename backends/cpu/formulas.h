/// @file
/// The formulas of operators that compute each output from one element of each input, a plane of
/// outputs at a time. Each instruction set has its own functions.
#pragma once
#include "backends/cpu/isa.h"
#include "backends/cpu/stages.h"

namespace lockstep::cpu {

/// `count` rows of n outputs. From row to row the output and each operand move by a step.
struct Plane {
  i64 n, count;
  i64 step;                 ///< of the output
  i64 steps[kOperandsMax];  ///< of the operands
  unsigned single;          ///< the operands of which one element serves a whole row: a bit set
  bool stream;              ///< let rows bypass the caches
};

/// Computes a plane. The output may be an operand.
using PlaneOf = void (*)(const Numbers& p, const Plane& plane, const i32* const* in, i32* y);

/// The function of the best instruction set that is no better than `most` and has one.
PlaneOf plane_of(Formula f, const Isa& most);

}  // namespace lockstep::cpu
