/// @file
/// The machine that runs the specification's text: check, infer, then `at` or `eval` over
/// range-checked views, every result asserted inside its inferred precision.
#pragma once
#include <string>
#include <vector>

#include "spec/check.h"
#include "spec/operators.h"

namespace lockstep::reference {

/// A compact row-major tensor.
struct Tensor {
  Type type;              ///< shape and precision
  std::vector<i32> data;  ///< the elements, the last axis fastest
};

/// Whether a tensor fits its type: as many values as the shape says, none outside the precision.
bool holds_its_type(const Tensor& t);

/// How a call ended: with outputs, by a fault of the caller, or by one of the machine or of ours.
enum class Status { ok, logic_error, runtime_error };

/// The one outcome of a call: exact outputs, or an error with its label and a sentence.
struct Outcome {
  Status status = Status::ok;  ///< how the call ended
  std::string label;           ///< of an error: that of the first rule that the call breaks
  std::string message;         ///< of an error: a sentence that says what is wrong
  std::vector<Tensor> out;     ///< the outputs; empty for an error
};

/// The outputs of a call that `check` has passed.
/// @throws BrokenSpecification where the specification's text contradicts itself.
std::vector<Tensor> outputs(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in);

/// Judges and runs a call. Never throws but for exhausted memory.
Outcome evaluate(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in);

}  // namespace lockstep::reference
