#include "conformance/cases/model_calls.h"

#include <algorithm>

#include "conformance/cases/item.h"
#include "reference/graph/load.h"

namespace lockstep::judge {

std::vector<Case> model_calls(const std::string& directory) {
  const graph::Graph graph = graph::load_graph(directory);
  std::vector<Case> calls;
  std::set<std::string> known;
  for (const graph::Node& n : graph.nodes()) {
    if (n.is_variable()) continue;
    Case c{.op = n.op, .attrs = n.attrs};
    for (const int e : n.inputs) c.in.push_back(graph.entry(e).type);
    if (known.insert(case_id(c)).second) calls.push_back(std::move(c));
  }
  return calls;
}

std::set<string_view> operators_of_model(const std::string& directory) {
  std::set<string_view> names;
  if (directory.empty()) return names;
  for (const Case& c : model_calls(directory)) names.insert(c.op->name);
  return names;
}

int cases_of_call(const Case& c, int most) {
  constexpr i64 kGas = i64{1} << 28;  // of all cases of a call, about a second of the reference
  const i64 outputs = volume(c.op->infer(c.attributes(), c.types())[0].shape);
  const i64 cost = std::max(elements_of(c), c.op->gas(c.attributes(), c.types()) * outputs);
  return static_cast<int>(std::clamp<i64>(kGas / cost, 1, most));
}

}  // namespace lockstep::judge
