/// @file
/// Symbol JSON as written: every key has the right form, but no two parts are compared yet.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/arithmetic.h"

namespace lockstep::graph {

/// One output of a node, as inputs and heads name it; the version that may follow has no effect.
struct Reference {
  i64 node = 0, output = 0;
};

/// Attributes as text.
using TextAttributes = std::map<std::string, std::string>;

/// A node as written.
struct SymbolNode {
  std::string op, name;
  std::vector<Reference> inputs;
  std::optional<std::string> func_name, num_inputs, num_outputs, flatten_data;
  std::optional<TextAttributes> op_attrs;
};

/// A document as written.
struct Symbol {
  std::vector<SymbolNode> nodes;
  std::vector<Reference> heads;
  std::string version = "cvm_1.0.0", postprocess;
  std::optional<std::vector<i64>> arg_nodes, node_row_ptr;

  // One entry per node output, except op_attrs: one per node.
  std::vector<i64> storage_id;
  std::vector<std::vector<i64>> shape;
  std::vector<TextAttributes> op_attrs;
  std::optional<std::vector<std::string>> dltype;
  std::optional<std::vector<i64>> precision;
  bool device_index_is_empty = true;
};

/// Reads symbol JSON. Keys are judged before what they hold, a document's parts in this order:
/// nodes, heads, version, postprocess, arg_nodes, node_row_ptr, attrs.
/// @throws Error model.json, model.key
Symbol read_symbol(std::string_view json);

}  // namespace lockstep::graph
