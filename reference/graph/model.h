/// @file
/// A graph with its parameters: everything that a run needs except the input.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "containers/array/ndarray.h"
#include "reference/graph/graph.h"

namespace lockstep::graph {

/// Arrays of integers by name.
using Parameters = std::map<std::string, ndarray::NDArray>;

/// The path of a parameter: "params.weight".
std::string parameter_path(const std::string& name);
/// The path of an element of a tensor: "params.weight[0][2]".
std::string element_path(const std::string& path, const Shape& shape, i64 element);
/// The first value outside a type's precision; the number of values where there is none.
i64 first_beyond(std::span<const i32> values, const Type& type);
/// The same of bytes.
i64 first_beyond(std::span<const int8_t> values, const Type& type);
/// Refuses values outside a type's precision.
/// @throws Error input.value with the path of the first.
void refuse_beyond(std::span<const i32> values, const Type& type, const std::string& path);

/// Immutable once built.
class Model {
 public:
  /// @throws Error model.params, input.value: judged variable by variable in the graph's order,
  /// then names the graph does not know, the bytewise smallest first.
  Model(Graph graph, Parameters parameters);

  /// The graph of the model.
  const Graph& graph() const { return graph_; }
  /// A parameter of the type the graph declares for this entry, compact and in host memory: int8
  /// where its precision is 8 or less, else int32. Null for "data" and for what a call computes.
  const ndarray::NDArray& parameter(int entry) const {
    return parameters_[static_cast<std::size_t>(entry)];
  }

 private:
  Graph graph_;
  std::vector<ndarray::NDArray> parameters_;  // one per entry
};

}  // namespace lockstep::graph
