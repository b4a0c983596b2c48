/// @file
/// Illegal calls, made from legal ones by small changes until every rule has been violated.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Changes one attribute, extent, rank or precision of a call, or the input count, at random.
void mutate(Case& c, Draw& draw);

/// Replaces a number wherever it stands, so that shapes and attributes keep agreeing.
void replace_number(Case& c, i64 old, i64 now);

/// The labels an operator can give to a call with well-formed attributes, in order of judgement.
std::vector<std::string> typed_labels(const OpInfo& op);

/// For each typed label up to `per_label` calls that must be refused with it, in the order of
/// typed_labels. A label that no mutation reaches has none; the caller decides what that means.
std::vector<Case> illegal_cases(const OpInfo& op, u64 seed, int per_label);

}  // namespace lockstep::judge
