#include "reference/graph/model.h"

#include <utility>

#include "containers/params/params.h"
#include "reference/graph/error.h"
#include "spec/text.h"

namespace lockstep::graph {
namespace {

std::string quoted(const std::string& name) { return "\"" + params::printable(name) + "\""; }

[[noreturn]] void refuse(const char* label, const std::string& path, const std::string& why) {
  throw Error(label, path + ": " + why, path);
}

// A parameter of the type that the graph declares for it.
reference::Tensor typed(const std::string& name, reference::Tensor tensor, const Type& type) {
  const std::string path = parameter_path(name);
  const bool fits =
      tensor.type.shape == type.shape && std::ssize(tensor.data) == volume(type.shape);
  if (!fits)
    refuse("model.params", path,
        "the parameter has the shape " + shape_text(tensor.type.shape) + " and " +
            std::to_string(tensor.data.size()) + " values, declared is " + shape_text(type.shape));
  refuse_beyond(tensor.data, type, path);
  tensor.type = type;
  return tensor;
}

}  // namespace

std::string parameter_path(const std::string& name) { return "params." + params::printable(name); }

void refuse_beyond(std::span<const i32> values, const Type& type, const std::string& path) {
  const i64 most = max_of(type.precision);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (magnitude(values[k]) > most)
      refuse("input.value", element_path(path, type.shape, static_cast<i64>(k)),
          std::to_string(values[k]) + " is outside the precision " +
              std::to_string(type.precision));
}

std::string element_path(const std::string& path, const Shape& shape, i64 element) {
  std::string indices;
  for (int axis = shape.size - 1; axis >= 0; --axis) {
    indices = "[" + std::to_string(element % shape[axis]) + "]" + indices;
    element /= shape[axis];
  }
  return path + indices;
}

Model::Model(Graph graph, Parameters parameters) : graph_(std::move(graph)) {
  parameters_.resize(graph_.entries().size());
  for (const Node& node : graph_.nodes()) {
    const int e = node.first_entry;
    if (!node.is_variable() || e == graph_.data()) continue;
    auto given = parameters.extract(node.name);
    if (given.empty())
      refuse("model.params", parameter_path(node.name),
          "no parameter is given for " + quoted(node.name));
    parameters_[static_cast<std::size_t>(e)] =
        typed(node.name, std::move(given.mapped()), graph_.entry(e).type);
  }
  if (!parameters.empty())
    refuse("model.params", parameter_path(parameters.begin()->first),
        "the parameter belongs to no variable of the graph but, at most, its input");
}

}  // namespace lockstep::graph
