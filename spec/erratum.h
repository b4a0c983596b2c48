/// @file
/// Errata: where the specification departs from its predecessors.
#pragma once
#include <string_view>

namespace lockstep {

using std::string_view;

/// How the answers of the deployed runtime stand to those of the specification.
enum class Deployed {
  same,     ///< the same outputs, or both refuse and blame the caller
  accepts,  ///< gives outputs of a call that is refused here
  refuses,  ///< refuses a call that has outputs here
  blames,   ///< refuses, too, but as its own error
  differs,  ///< gives other types or values
  crashes   ///< ends
};

/// What an erratum says of the deployed runtime. Every recorded answer about the topic bears it out
/// (`conformance/specification/deployed.jsonl`).
struct Recorded {
  Deployed there = Deployed::same;
  string_view topic = {};  ///< the topic itself, or what stands before the slash of several
  constexpr bool empty() const { return topic.empty(); }
};

/// A departure from the older documents or the deployed runtime, its reason, and its proof: a
/// golden vector, found by its example or label, or a test if no call can show it.
struct Erratum {
  string_view text, reason;
  string_view example = {};  ///< the text of an example, or another comment of a vector
  string_view label = {};    ///< a label that a call is refused with: "weight", "attr.range"
  string_view op = {};       ///< the operator of the vector, if it is another one
  string_view test = {};     ///< "Suite.Name"
  Recorded deployed = {};    ///< where it speaks of the deployed runtime
};

}  // namespace lockstep
