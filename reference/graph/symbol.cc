#include "reference/graph/symbol.h"

#include "reference/graph/error.h"
#include "reference/graph/json.h"

namespace lockstep::graph {
namespace {

// [node, output, version?]
Reference read_reference(const Json& value, const Place& place) {
  const std::vector<i64> numbers = as_integers(value, place);
  if (numbers.size() != 2 && numbers.size() != 3)
    throw Error("model.key", place.text() + " is not [node, output] or [node, output, version]",
        place.text());
  return {numbers[0], numbers[1]};
}

std::vector<Reference> read_references(const Json& value, const Place& place) {
  std::vector<Reference> list;
  for (const Json& v : as_array(value, place))
    list.push_back(read_reference(v, place.at(static_cast<i64>(list.size()))));
  return list;
}

// A JSON object of strings, itself inside a string.
TextAttributes read_text_attributes(const Json& value, const Place& place) {
  TextAttributes attrs;
  const Document object = parse_object(as_text(value, place), place);
  for (const auto& [key, text] : (*object).items()) attrs[key] = as_text(text, place.at(key));
  return attrs;
}

std::optional<std::string> optional_text(const Json& object, const char* key, const Place& place) {
  if (!object.contains(key)) return std::nullopt;
  return as_text(object[key], place.at(key));
}

SymbolNode read_node(const Json& value, const Place& place) {
  as_object(
      value, place, {{"op", true}, {"name", true}, {"inputs", true}, {"attrs"}, {"precision"}});
  SymbolNode node;
  node.op = as_text(value["op"], place.at("op"));
  node.name = as_text(value["name"], place.at("name"));
  node.inputs = read_references(value["inputs"], place.at("inputs"));
  if (!value.contains("attrs")) return node;
  const Place at = place.at("attrs");
  const Json& attrs = as_object(value["attrs"], at,
      {{"func_name"}, {"num_inputs"}, {"num_outputs"}, {"flatten_data"}, {"op_attrs"}});
  node.func_name = optional_text(attrs, "func_name", at);
  node.num_inputs = optional_text(attrs, "num_inputs", at);
  node.num_outputs = optional_text(attrs, "num_outputs", at);
  node.flatten_data = optional_text(attrs, "flatten_data", at);
  if (attrs.contains("op_attrs"))
    node.op_attrs = read_text_attributes(attrs["op_attrs"], at.at("op_attrs"));
  return node;
}

// Absent, an empty list, or a list form without entries.
bool no_devices(const Json& attrs, const Place& place) {
  if (!attrs.contains("device_index")) return true;
  const Json& value = as_array(attrs["device_index"], place);
  return value.empty() || as_list(value, place, "list_int").empty();
}

void read_attrs(const Json& value, const Place& place, Symbol& symbol) {
  const Json& attrs = as_object(value, place,
      {{"storage_id", true}, {"shape", true}, {"op_attrs", true}, {"dltype"}, {"precision"},
          {"device_index"}});
  // The entries of a list are the second element of what stands under its key.
  const auto each = [&](const char* key, std::string_view form, auto read) {
    const Place at = place.at(key), entries = at.at(1);
    i64 index = 0;
    for (const Json& v : as_list(attrs[key], at, form)) read(v, entries.at(index++));
  };
  const auto integers = [&](const char* key) {
    std::vector<i64> list;
    each(key, "list_int",
        [&](const Json& v, const Place& at) { list.push_back(as_integer(v, at)); });
    return list;
  };
  symbol.storage_id = integers("storage_id");
  each("shape", "list_shape",
      [&](const Json& v, const Place& at) { symbol.shape.push_back(as_integers(v, at)); });
  each("op_attrs", "list_str", [&](const Json& v, const Place& at) {
    symbol.op_attrs.push_back(read_text_attributes(v, at));
  });
  if (attrs.contains("dltype")) {
    symbol.dltype.emplace();
    each("dltype", "list_str",
        [&](const Json& v, const Place& at) { symbol.dltype->push_back(as_text(v, at)); });
  }
  if (attrs.contains("precision")) symbol.precision = integers("precision");
  symbol.device_index_is_empty = no_devices(attrs, place.at("device_index"));
}

}  // namespace

Symbol read_symbol(std::string_view json) {
  const Place root;
  const Document parsed = parse_object(json, root);
  const Json& document = *parsed;
  as_object(document, root,
      {{"nodes", true}, {"heads", true}, {"attrs", true}, {"arg_nodes"}, {"node_row_ptr"},
          {"version"}, {"postprocess"}});
  Symbol symbol;
  const Place nodes = root.at("nodes");
  for (const Json& v : as_array(document["nodes"], nodes))
    symbol.nodes.push_back(read_node(v, nodes.at(static_cast<i64>(symbol.nodes.size()))));
  symbol.heads = read_references(document["heads"], root.at("heads"));
  if (const auto v = optional_text(document, "version", root)) symbol.version = *v;
  if (const auto v = optional_text(document, "postprocess", root)) symbol.postprocess = *v;
  if (document.contains("arg_nodes"))
    symbol.arg_nodes = as_integers(document["arg_nodes"], root.at("arg_nodes"));
  if (document.contains("node_row_ptr"))
    symbol.node_row_ptr = as_integers(document["node_row_ptr"], root.at("node_row_ptr"));
  read_attrs(document["attrs"], root.at("attrs"), symbol);
  return symbol;
}

}  // namespace lockstep::graph
