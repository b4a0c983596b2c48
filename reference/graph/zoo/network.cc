#include "reference/graph/zoo/network.h"

#include <utility>

#include "containers/array/dictionary.h"
#include "reference/graph/bytes.h"

namespace lockstep::graph::zoo {

Model Network::model() const {
  Parameters arrays;
  for (const auto& [name, tensor] : parameters) arrays[name] = ndarray::adopt_params(tensor);
  return Model(Graph(write_symbol(symbol)), std::move(arrays));
}

i64 multiply_adds(const Graph& graph) {
  i64 sum = 0;
  for (const Node& n : graph.nodes()) {
    if (n.is_variable() || (n.op->name != "conv2d" && n.op->name != "dense")) continue;
    const Type& weights = graph.entry(n.inputs[1]).type;
    sum += volume(graph.entry(n.first_entry).type.shape) * (volume(weights.shape) / weights.dim(0));
  }
  return sum;
}

std::vector<std::byte> seeded_input(const Graph& graph, u64 seed) {
  const i64 most = max_of(graph.entry(graph.data()).type.precision);
  const i64 size = input_element_size(graph);
  std::vector<std::byte> bytes;
  for (i64 n = 0; n < input_length(graph) / size; ++n) {
    const auto value = static_cast<u64>(within(word(seed, 0, static_cast<u64>(n)), -most, most));
    for (i64 b = 0; b < size; ++b) bytes.push_back(static_cast<std::byte>(value >> (8 * b)));
  }
  return bytes;
}

}  // namespace lockstep::graph::zoo
