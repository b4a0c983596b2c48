/// @file
/// The formulas of operators that compute each output from one element of each input, a plane of
/// outputs at a time. Each instruction set has its own functions.
#pragma once
#include "backends/cpu/isa.h"
#include "backends/cpu/loops.h"

namespace lockstep::cpu {

/// What is computed. The first ones have one operand, those from `added` on two, the last three.
enum class Formula {
  absolute,
  negated,
  clipped,
  shifted_right,
  shifted_left,
  counted,
  added,
  subtracted,
  multiplied,
  largest,
  greater,
  divided,
  divided_short,  ///< of operands below 2^23
  chosen          ///< operand 1 where operand 0 is not zero, else operand 2
};

/// The most operands of a formula.
inline constexpr int kOperandsMax = 3;

constexpr int arity(Formula f) { return f < Formula::added ? 1 : f < Formula::chosen ? 2 : 3; }

/// The attributes of a formula.
struct Numbers {
  i32 low = 0, high = 0;
  int shift = 0;
};

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
