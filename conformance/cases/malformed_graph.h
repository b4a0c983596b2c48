/// @file
/// Malformed graphs, which a backend that compiles graphs has to refuse.
#pragma once
#include <array>
#include <optional>

#include "conformance/cases/call_graph.h"

namespace lockstep::judge {

/// A mistake in a graph, and the label with which a backend must refuse it (backends/backend.h).
struct GraphMistake {
  string_view label, what;
  /// Makes the mistake. @return whether the graph has a place for it
  bool (*make)(CallGraph&);
};

/// The mistakes that a graph of legal calls can have. Each leaves its calls legal, so that only one
/// label is right.
extern const std::array<GraphMistake, 7> kGraphMistakes;

/// A graph with a mistake, if it has a place for it. Its constants become feeds, because nobody
/// runs it.
std::optional<CallGraph> malformed(CallGraph legal, const GraphMistake& mistake);

/// The graph of one call. If that is illegal, its outputs have the types that a host would guess.
CallGraph graph_of_call(const Case& c);

}  // namespace lockstep::judge
