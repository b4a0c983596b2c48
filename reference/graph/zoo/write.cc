#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reference/graph/zoo/network.h"

namespace lockstep::graph::zoo {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered references(const std::vector<Reference>& list) {
  Ordered all = Ordered::array();
  for (const Reference& r : list) all.push_back({r.node, r.output, 0});
  return all;
}

Ordered node_of(const SymbolNode& n) {
  Ordered node{{"op", n.op}, {"name", n.name}, {"inputs", references(n.inputs)}};
  if (n.func_name)
    node["attrs"] = {{"func_name", *n.func_name}, {"num_inputs", *n.num_inputs},
        {"num_outputs", *n.num_outputs}, {"flatten_data", "0"}};
  return node;
}

// Attributes are a JSON object inside a string.
Ordered text_of(const TextAttributes& attrs) {
  Ordered object = Ordered::object();
  for (const auto& [key, value] : attrs) object[key] = value;
  return object.dump();
}

}  // namespace

std::string write_symbol(const Symbol& symbol) {
  std::string nodes, separator;
  Ordered variables = Ordered::array(), rows = Ordered::array({0}), op_attrs = Ordered::array();
  i64 outputs = 0;
  for (std::size_t i = 0; i < symbol.nodes.size(); ++i) {
    const SymbolNode& n = symbol.nodes[i];
    nodes += separator + "\n  " + node_of(n).dump();
    separator = ",";
    if (!n.func_name) variables.push_back(i);
    outputs += n.func_name ? std::stoll(*n.num_outputs) : 1;
    rows.push_back(outputs);
    op_attrs.push_back(text_of(symbol.op_attrs[i]));
  }
  const auto list = [](const char* key, const char* form, const Ordered& values) {
    return fmt::format("  \"{}\": {}", key, Ordered{form, values}.dump());
  };
  const std::string attrs = list("storage_id", "list_int", symbol.storage_id) + ",\n" +
      list("shape", "list_shape", symbol.shape) + ",\n" + list("op_attrs", "list_str", op_attrs) +
      ",\n" + list("dltype", "list_str", std::vector<std::string>(symbol.shape.size(), "int32")) +
      ",\n" + list("precision", "list_int", *symbol.precision);
  return fmt::format(
      "{{\n\"nodes\": [{}],\n\"arg_nodes\": {},\n\"node_row_ptr\": {},\n\"heads\": {},\n"
      "\"version\": {},\n\"postprocess\": {},\n\"attrs\": {{\n{}}}}}\n",
      nodes, variables.dump(), rows.dump(), references(symbol.heads).dump(),
      Ordered(symbol.version).dump(), Ordered(symbol.postprocess).dump(), attrs);
}

}  // namespace lockstep::graph::zoo
