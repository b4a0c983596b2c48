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
  i64 node = 0;    ///< its place in the list of nodes
  i64 output = 0;  ///< which of its outputs
};

/// Attributes as text.
using TextAttributes = std::map<std::string, std::string>;

/// A node as written.
struct SymbolNode {
  std::string op;                           ///< "null" for a variable, "cvm_op" for a call
  std::string name;                         ///< the author's
  std::vector<Reference> inputs;            ///< what it reads, in the order of the operator's ports
  std::optional<std::string> func_name;     ///< the operator of a call
  std::optional<std::string> num_inputs;    ///< if stated, it has to be right
  std::optional<std::string> num_outputs;   ///< likewise
  std::optional<std::string> flatten_data;  ///< "0" or "1", without effect
  std::optional<TextAttributes> op_attrs;   ///< if stated, those that the document has for the node
};

/// A document as written.
struct Symbol {
  std::vector<SymbolNode> nodes;                 ///< in an order in which they can run
  std::vector<Reference> heads;                  ///< the outputs of the whole
  std::string version = "cvm_1.0.0";             ///< of the format
  std::string postprocess;                       ///< how the output is shaped, such as "argmax"
  std::optional<std::vector<i64>> arg_nodes;     ///< the variables
  std::optional<std::vector<i64>> node_row_ptr;  ///< where the outputs of each node begin

  // One entry per node output, except op_attrs: one per node.
  std::vector<i64> storage_id;                     ///< entries of equal ids share memory
  std::vector<std::vector<i64>> shape;             ///< extents, the outermost axis first
  std::vector<TextAttributes> op_attrs;            ///< of each node's operator
  std::optional<std::vector<std::string>> dltype;  ///< "int32" and nothing else
  std::optional<std::vector<i64>> precision;       ///< in bits, of variables; -1 is the widest
  bool device_index_is_empty = true;               ///< whether no device is named
};

/// Reads symbol JSON. Keys are judged before what they hold, a document's parts in this order:
/// nodes, heads, version, postprocess, arg_nodes, node_row_ptr, attrs.
/// @throws Error model.json, model.key
Symbol read_symbol(std::string_view json);

}  // namespace lockstep::graph
