/// @file
/// Elementwise calls as formulas of single elements, for every device that joins them.
#pragma once
#include <array>
#include <optional>

#include "backends/bridge.h"
#include "spec/ops.h"

namespace lockstep::cpu {

/// What is computed. The first have one operand, those from `added` on two, and the last has three.
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

/// A formula and its operands: the result of the stage before (0), or an input, counted from 1.
struct Stage {
  Formula formula;
  Numbers numbers{};
  std::array<int, kOperandsMax> operand{1, 2, 3};
};

/// The operators that compute each output from one element of each input.
using ElementwiseOperators = OperatorList<Abs, BroadcastAdd, BroadcastDiv, BroadcastGreater,
    BroadcastMax, BroadcastMul, BroadcastSub, Clip, CvmClip, CvmLeftShift, CvmPrecision,
    CvmRightShift, ElemwiseAdd, ElemwiseSub, Negative, Relu, Where>;

/// The call as a stage; none if its operator is not an elementwise one.
std::optional<Stage> stage_of(const backend::LegalCall& call);

}  // namespace lockstep::cpu
