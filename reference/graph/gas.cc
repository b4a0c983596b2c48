#include "spec/gas.h"

#include "reference/graph/error.h"
#include "reference/graph/graph.h"

namespace lockstep::graph {

i64 check_gas(const Graph& graph) {
  GasMeter meter;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& n = graph.nodes()[i];
    if (n.is_variable()) {
      meter.variable(graph.entry(n.first_entry).type);
    } else {
      std::vector<Type> in;
      for (int e : n.inputs) in.push_back(graph.entry(e).type);
      meter.call(*n.op, n.attributes(), {in.data(), static_cast<int>(in.size())});
    }
    if (meter.exceeded().empty()) continue;
    const std::string path = at("nodes", static_cast<i64>(i));
    throw Error("model.gas",
        path + ": " + describe(graph, static_cast<int>(i)) + ": " + std::string(meter.exceeded()),
        path);
  }
  return meter.total();
}

}  // namespace lockstep::graph
