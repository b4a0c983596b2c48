/// @file
/// The calls that a frozen set should have, derived for every operator from its header.
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
  bool sampled = false;  ///< one call with this comment is enough
};

/// Every candidate of an operator, in a fixed order.
std::vector<VectorCandidate> vector_candidates(const OpInfo& op);

/// The two calls at each boundary of a label, and calls that violate two rules.
std::vector<VectorCandidate> limit_candidates(const OpInfo& op, u64 seed);

/// Calls with illegal or unusual text of attributes or data.
std::vector<VectorCandidate> text_candidates(const OpInfo& op);

/// The labels of step 2 and 8 that an operator can give.
std::vector<std::string> text_labels(const OpInfo& op);

/// Example `i` of an operator as a frozen call.
VectorCall example_call(const OpInfo& op, int i);

/// The frozen form of a call, without data.
VectorCall types_call(const Case& c);

/// The frozen form of a call, with data of this fill.
VectorCall filled_call(const Case& c, Fill fill);

/// The attributes of a call as text; those at their default are left out.
std::map<std::string, std::string> attribute_texts(const OpInfo& op, Attributes values);

}  // namespace lockstep::judge
