/// @file
/// Errata: where the specification departs from what came before it.
#pragma once
#include <string_view>

namespace lockstep {

using std::string_view;

/// A departure from the older documents or the deployed runtime, with its reason and with what
/// shows it: a golden vector, found by what it is about, or a test where no call can show it.
struct Erratum {
  string_view text, reason;
  string_view example = {};  ///< the text of an example, or another comment of a vector
  string_view label = {};    ///< a label that a call is refused with: "weight", "attr.range"
  string_view op = {};       ///< whose vector it is, if not the operator's own
  string_view test = {};     ///< "Suite.Name"
};

}  // namespace lockstep
