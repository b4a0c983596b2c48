/// @file
/// A network in memory: the two files of a model before they are written.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "containers/params/params.h"
#include "reference/graph/model.h"
#include "reference/graph/symbol.h"
#include "spec/random.h"

namespace lockstep::graph::zoo {

/// Symbol JSON as its parts, and the parameters in the order of their variables.
struct Network {
  Symbol symbol;
  std::vector<params::NamedTensor> parameters;

  /// The graph and the parameters, validated like those of any file.
  Model model() const;
};

/// The text of a symbol, which read_symbol reads: a node on each line, everything that version
/// cvm_1.0.0 may state, stated. Lists that the nodes imply need not be there.
std::string write_symbol(const Symbol& symbol);

/// The multiply-adds of all convolutions and dense layers.
i64 multiply_adds(const Graph& graph);

/// Input bytes for a graph, drawn evenly from the precision of "data".
std::vector<std::byte> seeded_input(const Graph& graph, u64 seed);

}  // namespace lockstep::graph::zoo
