/// @file
/// Models from files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "containers/array/dictionary.h"
#include "reference/graph/model.h"

namespace lockstep::graph {

/// The arrays of a parameter file, in which no two share a name.
Parameters by_name(std::vector<ndarray::NamedArray> arrays);

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
/// @throws what load_graph() throws, for `params` too; Error for parameters that break a rule and
/// where the directory has none, params::Error for a faulty parameter file.
Model load_model(const std::string& directory);

}  // namespace lockstep::graph
