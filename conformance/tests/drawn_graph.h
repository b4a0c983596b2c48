/// @file
/// Graphs around drawn calls, for tests.
#pragma once
#include "conformance/cases/call_graph.h"
#include "spec/operators.h"

namespace lockstep::judge {

/// The graph around a call of an operator, all others claimed.
inline CallGraph drawn_graph(const OpInfo& op, u64 seed) {
  Seeded draw(seed << 32);
  Case c = draw_case(op, draw);
  c.seed = seed;
  const std::vector<Tensor> in = inputs_of(c);
  return graph_around(
      c, in, reference::outputs(op, c.attributes(), in), [](const Case&) { return true; });
}

}  // namespace lockstep::judge
