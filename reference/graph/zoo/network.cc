#include "reference/graph/zoo/network.h"

#include "reference/graph/bytes.h"

namespace lockstep::graph::zoo {

Model Network::model() const {
  Parameters tensors;
  for (const auto& [name, tensor] : parameters) {
    Shape shape;
    for (const i64 extent : tensor.shape) shape.push(extent);
    tensors[name] = {Type{shape, kMaxPrecision}, params::to_int32(tensor)};
  }
  return Model(Graph(write_symbol(symbol)), std::move(tensors));
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
