/// @file
/// The calls of a model as cases: a backend that gives the right bits for them computes the model.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Each call of a model once, by operator, attributes and types, in the order of its nodes. Their
/// values are still to be chosen.
/// @param directory holds symbol.json
/// @throws graph::Error for a graph that breaks a rule.
std::vector<Case> model_calls(const std::string& directory);

/// The names of the operators that a model calls.
/// @param directory holds symbol.json; empty for no model, which calls none
/// @throws graph::Error for a graph that breaks a rule.
std::set<string_view> operators_of_model(const std::string& directory);

/// How many cases to make of one call of a model: `most` if it costs little, fewer the more it
/// costs, but at least one.
int cases_of_call(const Case& c, int most);

}  // namespace lockstep::judge
