/// @file
/// The calls a frozen set should have, made for every operator alike from its header.
#pragma once
#include <string>
#include <vector>

#include "conformance/golden/vector_file.h"

namespace lockstep::judge {

/// A call for the frozen set.
struct VectorCandidate {
  std::string comment;
  std::vector<std::string> flags;
  VectorCall call;
  std::string label;     ///< the error it is meant to give; empty: legal
  bool sampled = false;  ///< stands for any call of its kind: one with its comment is enough
};

/// Every candidate of an operator, in a fixed order.
std::vector<VectorCandidate> vector_candidates(const OpInfo& op);

/// Calls one step to either side of where each label begins, and calls that violate two rules.
std::vector<VectorCandidate> limit_candidates(const OpInfo& op, u64 seed);

/// Calls whose attributes or data are text that is not legal, or unusual.
std::vector<VectorCandidate> text_candidates(const OpInfo& op);

/// The labels of step 2 and 8 that an operator can give.
std::vector<std::string> text_labels(const OpInfo& op);

/// Example `i` of an operator as a frozen call.
VectorCall example_call(const OpInfo& op, int i);

/// A call as it is frozen, without data.
VectorCall types_call(const Case& c);

/// A call as it is frozen, with data of this fill.
VectorCall filled_call(const Case& c, Fill fill);

/// The attributes of a call as text; those at their default are left out.
std::map<std::string, std::string> attribute_texts(const OpInfo& op, Attributes values);

}  // namespace lockstep::judge
