/// @file
/// Models from files.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "reference/graph/model.h"

namespace lockstep::graph {

/// The parameters of a parameter file held in memory, by name.
/// @throws Error model.params for a faulty file: its path is "params", or "params.NAME" where the
/// fault lies in the tensor NAME; its message holds the file's own label and offset.
Parameters read_parameters(std::span<const std::byte> file);

/// The graph of a document from a file, which errors name.
/// @throws Error for a graph that breaks a rule, utils::OutOfMemory.
Graph graph_of(std::string_view json, const std::string& file);

/// The graph of a directory, from its file `symbol.json`.
/// @throws Error for a graph that breaks a rule, utils::ValueVerifyFatal for a file that cannot be
/// opened, utils::LogMessageFatal where reading it fails, and of these utils::OutOfMemory with its
/// path where memory runs out.
Graph load_graph(const std::string& directory);

/// The model of a directory, from its files `symbol.json` and `params`. Parameters of type int32
/// stay in the memory that the file was read into.
/// @throws what load_graph() and read_parameters() throw, for `params` too; Error for parameters
/// that break a rule and where the directory has none.
Model load_model(const std::string& directory);

}  // namespace lockstep::graph
