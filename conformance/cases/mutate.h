/// @file
/// Illegal calls: small changes to legal ones, until every rule of an operator has been broken.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Makes one random change to a call: an attribute, an extent, a rank, a precision, the input
/// count.
void mutate(Case& c, Draw& draw);

/// The labels an operator can give to a call with well-formed attributes, in the order of
/// judgement.
std::vector<std::string> typed_labels(const OpInfo& op);

/// For each typed label up to `per_label` calls that must be refused with it, grouped by label in
/// the order of typed_labels. A label that no mutation reaches has no calls: the caller decides.
std::vector<Case> illegal_cases(const OpInfo& op, u64 seed, int per_label);

}  // namespace lockstep::judge
