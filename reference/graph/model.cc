#include "reference/graph/model.h"

#include <utility>

#include "containers/params/params.h"
#include "reference/graph/error.h"

namespace lockstep::graph {
namespace {

std::string quoted(const std::string& name) { return "\"" + params::printable(name) + "\""; }

// A parameter of the type that the graph declares for it.
reference::Tensor typed(const std::string& name, reference::Tensor tensor, const Type& type) {
  const bool fits =
      tensor.type.shape == type.shape && std::ssize(tensor.data) == volume(type.shape);
  if (!fits)
    throw Error("model.params", "the parameter " + quoted(name) + " has not the declared shape");
  const i64 most = max_of(type.precision);
  for (std::size_t k = 0; k < tensor.data.size(); ++k)
    if (magnitude(tensor.data[k]) > most)
      throw Error("input.value",
          "element " + std::to_string(k) + " of the parameter " + quoted(name) + " is " +
              std::to_string(tensor.data[k]) + ", outside its precision " +
              std::to_string(type.precision));
  tensor.type = type;
  return tensor;
}

}  // namespace

Model::Model(Graph graph, Parameters parameters) : graph_(std::move(graph)) {
  parameters_.resize(graph_.entries().size());
  for (const Node& node : graph_.nodes()) {
    const int e = node.first_entry;
    if (!node.is_variable() || e == graph_.data()) continue;
    auto given = parameters.extract(node.name);
    if (given.empty())
      throw Error("model.params", "no parameter is given for " + quoted(node.name));
    parameters_[static_cast<std::size_t>(e)] =
        typed(node.name, std::move(given.mapped()), graph_.entry(e).type);
  }
  if (!parameters.empty())
    throw Error("model.params",
        "the parameter " + quoted(parameters.begin()->first) +
            " belongs to no variable of the graph but, at most, its input");
}

}  // namespace lockstep::graph
