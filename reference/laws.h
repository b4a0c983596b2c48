/// @file
/// Laws put to the test: the equations that operators state, evaluated by the reference.
#pragma once
#include <string>
#include <vector>

#include "reference/evaluate.h"

namespace lockstep::reference {

/// What became of a law at one call.
struct LawResult {
  enum Kind {
    silent,  ///< it says nothing of this call, or one side lies beyond what operators can hold
    holds,
    broken
  } kind = silent;
  bool telling = false;  ///< it holds, and what was compared is not constant
  std::string message;   ///< how it is broken
};

/// Puts law `i` of an operator to a legal call.
/// @param other other values for the types of `in`.
/// @param draw choices that a law leaves open.
LawResult try_law(const OpInfo& op, int i, Attributes attrs, const std::vector<Tensor>& in,
                  const std::vector<Tensor>& other, Draw& draw);

}  // namespace lockstep::reference
