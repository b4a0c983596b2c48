#include "reference/graph/model.h"

#include <algorithm>
#include <utility>

#include "containers/params/params.h"
#include "reference/graph/arrays.h"
#include "reference/graph/error.h"
#include "spec/text.h"

namespace lockstep::graph {
namespace {

std::string quoted(const std::string& name) { return "\"" + params::printable(name) + "\""; }

[[noreturn]] void refuse(const char* label, const std::string& path, const std::string& why) {
  throw Error(label, path + ": " + why, path);
}

[[noreturn]] void refuse_value(i32 value, i64 k, const Type& type, const std::string& path) {
  refuse("input.value", element_path(path, type.shape, k),
      std::to_string(value) + " is outside the precision " + std::to_string(type.precision));
}

// A parameter of the type that the graph declares for it.
ndarray::NDArray typed(const std::string& name, const ndarray::NDArray& given, const Type& type) {
  const std::string path = parameter_path(name);
  if (!std::ranges::equal(given.shape(), type.shape))
    refuse("model.params", path,
        "the parameter has the shape " + shape_text(given.shape()) + ", declared is " +
            shape_text(type.shape));
  if (is_int8(given)) {
    const std::span<const int8_t> values = bytes_of(given);
    if (const i64 k = first_beyond(values, type); k < std::ssize(values))
      refuse_value(values[static_cast<std::size_t>(k)], k, type, path);
    return type.precision <= 8 ? given : as_int32(given);
  }
  ndarray::NDArray values;
  try {
    values = as_int32(given);
  } catch (const utils::ValueVerifyFatal& e) {
    refuse("model.params", path, e.what());
  }
  refuse_beyond(values_of(values), type, path);
  return type.precision <= 8 ? as_int8(values) : values;
}

constexpr std::ptrdiff_t kBlock = 1024;

// Compilers vectorize a loop of constant length without an early exit.
template <class T> bool are_within(const T* block, i32 most) {
  T beyond = 0;
  for (std::ptrdiff_t k = 0; k < kBlock; ++k)
    beyond = static_cast<T>(beyond | (block[k] < -most) | (block[k] > most));
  return beyond == 0;
}

template <class T> i64 find_beyond(std::span<const T> values, const Type& type) {
  const auto most = static_cast<i32>(max_of(type.precision));
  auto at = values.begin();
  while (values.end() - at >= kBlock && are_within(&*at, most)) at += kBlock;
  at = std::find_if(at, values.end(), [&](i32 v) { return v < -most || most < v; });
  return at - values.begin();
}

}  // namespace

std::string parameter_path(const std::string& name) { return "params." + params::printable(name); }

i64 first_beyond(std::span<const i32> values, const Type& type) {
  return find_beyond(values, type);
}
i64 first_beyond(std::span<const int8_t> values, const Type& type) {
  return find_beyond(values, type);
}

void refuse_beyond(std::span<const i32> values, const Type& type, const std::string& path) {
  const i64 k = first_beyond(values, type);
  if (k < std::ssize(values)) refuse_value(values[static_cast<std::size_t>(k)], k, type, path);
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
        typed(node.name, given.mapped(), graph_.entry(e).type);
  }
  if (!parameters.empty())
    refuse("model.params", parameter_path(parameters.begin()->first),
        "the parameter belongs to no variable of the graph but, at most, its input");
}

}  // namespace lockstep::graph
