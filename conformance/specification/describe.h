/// @file
/// An operator as data: everything its header says, for documentation and for other programs.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The first sentence of a text, up to a full stop before a space or the end.
std::string first_sentence(string_view text);

/// An operator as JSON. Later versions may add keys, but never remove one.
nlohmann::ordered_json describe(const OpInfo& op);

/// Every label of a refusal, as JSON: first those that calls of all operators share, then each
/// operator's own, both in the order of judgement; then those of models.
nlohmann::ordered_json describe_labels();

}  // namespace lockstep::judge
