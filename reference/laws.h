/// @file
/// Tests laws: evaluates the equations that operators state.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/evaluate.h"

namespace lockstep::reference {

/// The outcome of a law for one call.
struct LawResult {
  enum State {
    silent,  ///< it says nothing of this call, which may have more inputs than any drawn one, or
             ///< it holds without a call of the law's own operator, or one side lies beyond what
             ///< operators can hold, or a call of it was not answered
    holds,
    broken
  } kind = silent;
  bool informative = false;  ///< it holds, and what was compared is not constant
  std::string message;       ///< how it is broken
};

/// Another implementation's answer to a legal call of the law's operator: its outputs, of the
/// inferred types, or nothing if it gave none.
using Respondent =
    std::function<std::optional<std::vector<Tensor>>(Attributes, const std::vector<Tensor>& in)>;

/// Tests law `i` of an operator on a legal call.
/// @param other other values for the types of `in`.
/// @param draw choices that a law leaves open.
/// @param respondent answers the calls of the law's own operator; without one the reference does,
/// as it answers those of others.
LawResult try_law(const OpInfo& op, int i, Attributes attrs, const std::vector<Tensor>& in,
    const std::vector<Tensor>& other, Draw& draw, const Respondent& respondent = {});

}  // namespace lockstep::reference
