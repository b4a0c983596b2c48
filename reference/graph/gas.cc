#include "spec/gas.h"

#include "reference/graph/error.h"
#include "reference/graph/graph.h"

namespace lockstep::graph {

namespace {

void charge(GasMeter& meter, const Graph& graph, const Node& n) {
  if (n.is_variable()) return meter.variable(graph.entry(n.first_entry).type);
  std::vector<Type> in;
  for (int e : n.inputs) in.push_back(graph.entry(e).type);
  meter.call(*n.op, n.attributes(), {in.data(), static_cast<int>(in.size())});
}

}  // namespace

i64 gas_of(const Graph& graph, const Node& node) {
  GasMeter meter;
  charge(meter, graph, node);
  return meter.total();
}

i64 check_gas(const Graph& graph) {
  GasMeter meter;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    charge(meter, graph, graph.nodes()[i]);
    if (meter.exceeded().empty()) continue;
    const std::string path = at("nodes", static_cast<i64>(i));
    throw Error("model.gas",
        path + ": " + describe(graph, static_cast<int>(i)) + ": " + std::string(meter.exceeded()),
        path);
  }
  return meter.total();
}

}  // namespace lockstep::graph
