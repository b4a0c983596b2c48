/// @file
/// Chains of elementwise calls after a product, as what the product's tiles do with their sums.
#pragma once
#include "backends/cpu/fusion.h"
#include "backends/cpu/stages.h"

namespace lockstep::cpu {

/// Stages that one Finish stands for. Clips and one right shift make a Rescale in any order,
/// because clamping before an increasing function is clamping after it.
class FinishedStages {
 public:
  /// Begins with a product's sums, which have this precision.
  explicit FinishedStages(int precision) : precision_(precision) {}

  /// Appends a stage whose operand 0 is the result so far and whose result has this precision.
  /// @return whether that is possible; otherwise nothing may be appended any more
  bool append(const Stage& stage, int precision);
  const Finish& finish() const { return finish_; }

 private:
  bool shift(Rescale& r, int bits) const;

  Finish finish_;
  int precision_;  // of the values that the latest Rescale reads
};

}  // namespace lockstep::cpu
