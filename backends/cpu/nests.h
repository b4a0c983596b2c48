/// @file
/// How the tensors of a call belong together, as loop nests: the same for every device that
/// computes by loops.
#pragma once
#include <span>
#include <vector>

#include "backends/bridge.h"
#include "backends/cpu/loops.h"
#include "spec/ops.h"

namespace lockstep::cpu {

/// An input of a chain of elementwise operators.
struct ChainInput {
  View view;                 ///< without data
  bool aligns_left = false;  ///< its first axis meets the first of the output, else the last
};

/// The inputs of an elementwise call.
std::vector<ChainInput> chain_inputs(const backend::LegalCall& call);
/// The axes of an output and such inputs.
Loops loops_of(const Out& y, std::span<const ChainInput> in);

inline constexpr int kScratch = -1;

/// A part of the output that one input fills.
struct Portion {
  int input = 0;         ///< or kScratch
  i64 to = 0, from = 0;  ///< offsets
  Loops loops{2};
  bool to_scratch = false;
};
using Portions = std::vector<Portion>;

/// The operators that only move elements.
using MovingOperators = OperatorList<Concatenate, ExpandDims, Flatten, Repeat, Reshape, SliceLike,
    Squeeze, StridedSlice, Tile, Transpose, Upsampling>;
/// The portions of such a call: boxes of the output with the strides at which an input is read.
Portions portions_of(const backend::LegalCall& call);
/// Whether all that a portion moves may stay where it is: its elements are as far from each other
/// in the output as in the input.
bool can_stay(const Portion& p);
/// The portions of a copy of x.
Portions copied(const View& x, const Out& y);

/// A call of take or cvm_lut: which inputs are X and the indices, and the axes of Y with the
/// strides of both. X does not move along axes of the indices, which say where it is read.
struct Taking {
  int x, index;
  i64 last;      ///< the largest index
  i64 step;      ///< of X from one index to the next; 0: no step describes X as one row
  bool is_flat;  ///< whether indices choose single elements of X as one row
  Loops loops{3};
};

/// The description of such a call.
Taking taking_of(const backend::LegalCall& call);

/// The axes of the input and of the output of a call of sum or max, in the order of the input,
/// which is larger. The output does not move along reduced axes.
Loops reduction_of(const backend::LegalCall& call);

}  // namespace lockstep::cpu
