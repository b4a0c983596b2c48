/// @file
/// Compiles whole graphs: folds what is constant, joins chains of elementwise operators and plans
/// the memory between the calls.
#pragma once
#include <memory>

#include "backends/cpu/kernels.h"

namespace lockstep::cpu {

/// The plan of a graph that check_graph() accepts. `isa` is as in Arguments.
/// @throws LogicError for a call that breaks a rule.
std::unique_ptr<Plan> graph_plan(
    const backend::Graph& graph, const std::shared_ptr<ThreadPool>& pool, const Isa* isa);

}  // namespace lockstep::cpu
