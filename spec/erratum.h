/// @file
/// Errata: where the specification departs from its predecessors.
#pragma once
#include <string_view>

namespace lockstep {

using std::string_view;

/// A departure from the older documents or the deployed runtime, its reason, and its proof: a
/// golden vector, found by its example or label, or a test if no call can show it.
struct Erratum {
  string_view text, reason;
  string_view example = {};  ///< the text of an example, or another comment of a vector
  string_view label = {};    ///< a label that a call is refused with: "weight", "attr.range"
  string_view op = {};       ///< the operator of the vector, if it is another one
  string_view test = {};     ///< "Suite.Name"
};

}  // namespace lockstep
