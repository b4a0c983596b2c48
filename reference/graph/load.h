/// @file
/// Models from files.
#pragma once
#include <string>
#include <vector>

#include "containers/array/dictionary.h"
#include "reference/graph/model.h"

namespace lockstep::graph {

/// The arrays of a parameter file, in which no two share a name.
Parameters by_name(std::vector<ndarray::NamedArray> arrays);

/// The model of a directory, from its files `symbol.json` and `params`. Parameters of type int32
/// stay in the memory that the file was read into.
/// @throws Error for a graph or parameters that break a rule, params::Error for a faulty parameter
/// file, utils::ValueVerifyFatal for a file that cannot be opened, utils::LogMessageFatal where
/// reading it fails.
Model load_model(const std::string& directory);

}  // namespace lockstep::graph
