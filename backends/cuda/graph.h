/// @file
/// Compiles whole graphs.
#pragma once
#include "backends/cuda/plans.h"

namespace lockstep::cuda {

/// The plan of a graph that check_graph() accepts: its calls one after the other on one stream,
/// what is constant computed once and kept on the device, results in memory that they share.
/// Products finish their sums, and hand activations of 8 bits to each other as packed bytes.
/// Executions that repeat the addresses of the one before replay a CUDA graph.
/// @param like device and options
/// @throws LogicError for a call that breaks a rule.
std::unique_ptr<DevicePlan> graph_plan(const backend::Graph& graph, const Arguments& like);

}  // namespace lockstep::cuda
