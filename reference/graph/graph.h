/// @file
/// A validated graph: operators with their attributes and tensors with their types, all of them
/// checked.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "spec/info.h"

namespace lockstep::graph {

/// The largest storage a graph may ask for, and the longest output it may give.
inline constexpr i64 kMaxStorageBytes = i64{1} << 32;

/// A variable or a call. Its outputs are consecutive entries.
struct Node {
  std::string name;            ///< as the document spells it
  const OpInfo* op = nullptr;  ///< null for a variable
  std::vector<Attr> attrs;     ///< every attribute of the operator, in table order
  std::vector<int> inputs;     ///< entries
  int first_entry = 0;         ///< where its outputs begin
  int entry_count = 1;         ///< how many outputs it has

  /// Whether it holds a tensor and calls nothing.
  bool is_variable() const { return op == nullptr; }
  /// The attributes as functions of an operator take them.
  Attributes attributes() const { return {attrs.data(), static_cast<int>(attrs.size())}; }
};

/// One output of a node: a tensor.
struct Entry {
  Type type;           ///< of a call inferred, of a variable declared
  int node = 0;        ///< whose output it is
  i64 storage_id = 0;  ///< entries of equal ids share memory, one after the other
  /// The last node that reads it; its own node if none does, -1 for a "data" that none reads,
  /// Graph::forever() if it outlives every call.
  int last_use = 0;
};

/// The nodes of a symbol JSON document, in an order in which they can run.
///
/// Where a document has several faults, the error is the first in this order: form (read_symbol);
/// version; node by node `op`, inputs, operator and the counts it states; variables; lengths of the
/// lists; arg_nodes, node_row_ptr and dltype of cvm_1.0.0; device_index; precisions; node by node
/// attributes, call and shapes; heads; storage; gas.
class Graph {
 public:
  /// @throws Error for a document that breaks a rule.
  explicit Graph(std::string_view symbol_json);

  /// In the order of the document, which is one in which they can run.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The outputs of all nodes, node by node.
  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry of this number, which must be inside.
  const Entry& entry(int number) const { return entries_[static_cast<std::size_t>(number)]; }
  /// The entries that are the outputs of the whole, in order.
  const std::vector<int>& heads() const { return heads_; }
  /// The entry of the variable "data".
  int data() const { return data_; }
  /// "argmax" and "detection" shape the output; every other text is kept as it is.
  const std::string& postprocess() const { return postprocess_; }
  /// "cvm_1.0.0" or "cvm_1.1.0".
  const std::string& version() const { return version_; }
  /// The sum over storage ids of the largest tensor that uses each.
  i64 storage_bytes() const { return storage_bytes_; }
  /// What a run costs (spec/gas.h).
  i64 gas() const { return gas_; }
  /// The last_use of an entry that outlives every call: a head or a parameter.
  int forever() const { return static_cast<int>(nodes_.size()); }

 private:
  friend class GraphBuilder;
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  std::vector<int> heads_;
  int data_ = -1;
  std::string postprocess_, version_;
  i64 storage_bytes_ = 0, gas_ = 0;
};

/// The number of a head's rows: the product of its extents before the last axis.
i64 row_count(const Type& head);

/// Whether any two live tensors share storage, in-place calls aside, and how many bytes it takes.
///
/// A parameter lives always, for every run reads it; "data" from before the first node; a head to
/// the end; any other tensor from its call to the last one that reads it.
/// @throws Error model.storage
i64 check_storage(const Graph& graph);

/// The part of a graph's gas that one node contributes.
i64 gas_of(const Graph& graph, const Node& node);

/// The gas of all nodes together (spec/gas.h).
/// @throws Error model.gas where a limit is exceeded.
i64 check_gas(const Graph& graph);

/// The path of an element: "heads[1]".
std::string at(const std::string& list, i64 index);
/// The path of an entry of a list under `attrs`, whose form stands before the entries:
/// "attrs.shape[1][3]".
std::string entry_path(const std::string& list, i64 index);
/// How a message names a node.
std::string describe(const Graph& graph, int node);

}  // namespace lockstep::graph
