/// @file
/// An operator as data: everything its header says, for documentation and for other programs.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The first sentence of a text, up to a full stop before a space or the end.
std::string first_sentence(string_view text);

/// The row of an operator as JSON. Keys are only ever added.
nlohmann::ordered_json describe(const OpInfo& op);

/// An erratum and what shows it.
nlohmann::ordered_json describe(const Erratum& e);

/// The label of every error a call can be refused with, as JSON: first those that all operators
/// share, then each operator's own, both in the order of judgement.
nlohmann::ordered_json describe_labels();

/// What an attribute's values are called.
string_view name_of(AttrKind k);

}  // namespace lockstep::judge
