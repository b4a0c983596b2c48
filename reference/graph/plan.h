/// @file
/// Storage for the tensors of a graph.
#pragma once
#include <vector>

#include "reference/graph/graph.h"

namespace lockstep::graph {

/// Which storage an output may take.
enum class Reuse {
  dead,     ///< that of a tensor that neither its own call nor a later one reads
  in_place  ///< also that of the call's own input, where the operator works in place
};

/// Storage ids for every entry of a graph, which check_storage accepts. A variable has its own; the
/// output of a call gets what fits best.
std::vector<i64> plan_storage(const Graph& graph, Reuse reuse);

}  // namespace lockstep::graph
