#include "reference/graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "containers/params/params.h"
#include "reference/evaluate.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"
#include "reference/graph/symbol.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/operators.h"
#include "spec/text.h"

namespace lockstep::graph {
namespace {

constexpr std::string_view kFirstVersion = "cvm_1.0.0", kSecondVersion = "cvm_1.1.0";

// Compilers number the uses of an operator: conv2d, conv2d_1, conv2d_2.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered =
      last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
  return numbered ? name.substr(0, last) : name;
}

std::string quoted(std::string_view text) { return "\"" + params::printable(text) + "\""; }

[[noreturn]] void refuse(
    const std::string& label, const std::string& path, const std::string& why) {
  throw Error(label, path + ": " + why, path);
}

std::string node_path(int i, std::string_view part = {}) {
  return at("nodes", i) + std::string(part);
}

Shape to_shape(const std::vector<i64>& extents) {
  Shape s;
  for (i64 e : extents) s.push(e);
  return s;
}

}  // namespace

// Turns a document into a graph, one rule after the other.
class GraphBuilder {
 public:
  GraphBuilder(const Symbol& symbol, Graph& graph) : symbol_(symbol), graph_(graph) {}

  void build() {
    graph_.version_ = symbol_.version;
    graph_.postprocess_ = symbol_.postprocess;
    if (symbol_.version != kFirstVersion && symbol_.version != kSecondVersion)
      refuse("model.version", "version", quoted(symbol_.version) + " is no known version");
    for (const SymbolNode& node : symbol_.nodes) graph_.nodes_.push_back({node.name, {}, {}, {}});
    for (int i = 0; i < size(); ++i) link(i);
    check_variables();
    check_counts();
    if (symbol_.version == kFirstVersion) check_implied();
    if (!symbol_.device_index_is_empty)
      refuse("model.device", "attrs.device_index", "a model binds to no device");
    check_precisions();
    for (int i = 0; i < size(); ++i) type(i);
    find_heads();
    check_heads();
    find_last_uses();
    graph_.storage_bytes_ = check_storage(graph_);
    graph_.gas_ = check_gas(graph_);
  }

 private:
  int size() const { return static_cast<int>(graph_.nodes_.size()); }
  const SymbolNode& written(int i) const { return symbol_.nodes[static_cast<std::size_t>(i)]; }
  Node& node(int i) { return graph_.nodes_[static_cast<std::size_t>(i)]; }
  Entry& entry(int e) { return graph_.entries_[static_cast<std::size_t>(e)]; }

  // Refuses what stands at this path, which belongs to node `i`.
  [[noreturn]] void fail(
      const std::string& label, const std::string& path, int i, const std::string& why) const {
    refuse(label, path, describe(graph_, i) + ": " + why);
  }

  // Links a node to its inputs and its operator, and compares the counts that it states.
  void link(int i) {
    const SymbolNode& w = written(i);
    const bool is_variable = w.op == "null";
    if (!is_variable && w.op != "cvm_op")
      fail("model.node", node_path(i, ".op"), i,
          "op " + quoted(w.op) + " is neither \"null\" nor \"cvm_op\"");
    for (const Reference& r : w.inputs)
      node(i).inputs.push_back(resolve(r, i, "input", std::ssize(node(i).inputs)));
    if (is_variable) {
      if (!w.inputs.empty())
        fail("model.node", node_path(i, ".inputs"), i, "a variable has inputs");
      if (w.func_name)
        fail("model.node", node_path(i, ".attrs.func_name"), i, "a variable has a func_name");
    } else {
      find_function(i);
    }
    node(i).first_entry = static_cast<int>(graph_.entries_.size());
    node(i).entry_count = is_variable ? 1 : node(i).op->outputs.size();
    for (int k = 0; k < node(i).entry_count; ++k) {
      graph_.entries_.emplace_back();
      graph_.entries_.back().node = i;
    }
    const auto states = [&](const char* key, const auto& text, std::size_t count) {
      if (text && *text != std::to_string(count))
        fail("model.node", node_path(i, ".attrs.") + key, i,
            std::string(key) + " is " + quoted(*text) + " where there are " +
                std::to_string(count));
    };
    states("num_inputs", w.num_inputs, w.inputs.size());
    states("num_outputs", w.num_outputs, static_cast<std::size_t>(node(i).entry_count));
    if (w.flatten_data && *w.flatten_data != "0" && *w.flatten_data != "1")
      fail("model.node", node_path(i, ".attrs.flatten_data"), i,
          "flatten_data is " + quoted(*w.flatten_data) + ", neither 0 nor 1");
  }

  void find_function(int i) {
    const SymbolNode& w = written(i);
    const std::string path = node_path(i, ".attrs.func_name");
    if (!w.func_name) fail("model.key", path, i, "attrs.func_name is missing");
    node(i).op = find_operator(without_number(*w.func_name));
    if (!node(i).op) fail("op.unknown", path, i, "no operator is called " + quoted(*w.func_name));
  }

  // The entry that a reference names, among the nodes before `limit`.
  int resolve(const Reference& r, int limit, const char* what, i64 index) {
    const auto names_none = [&](int count, const std::string& of) {
      const std::string who = limit < size() ? describe(graph_, limit) + ": " : std::string();
      refuse("model.reference", at(limit < size() ? node_path(limit, ".inputs") : "heads", index),
          who + what + " [" + std::to_string(r.node) + "," + std::to_string(r.output) +
              "] names none of the " + std::to_string(count) + " " + of);
    };
    if (r.node < 0 || r.node >= limit) names_none(limit, "nodes it may");
    const int from = static_cast<int>(r.node), outputs = node(from).entry_count;
    if (r.output < 0 || r.output >= outputs)
      names_none(outputs, "outputs of " + describe(graph_, from));
    return node(from).first_entry + static_cast<int>(r.output);
  }

  void check_variables() {
    std::set<std::string_view> names;
    for (int i = 0; i < size(); ++i) {
      if (!node(i).is_variable()) continue;
      if (!names.insert(node(i).name).second)
        fail("model.variable", node_path(i, ".name"), i, "an earlier variable has the same name");
      if (node(i).name == "data") graph_.data_ = node(i).first_entry;
    }
    if (graph_.data_ < 0) refuse("model.variable", "nodes", "no variable is called \"data\"");
  }

  void check_counts() const {
    const auto counted = [](const char* key, std::size_t count, std::size_t needed,
                             const char* what) {
      if (count != needed)
        refuse("model.count", "attrs." + std::string(key),
            std::string(key) + " has " + std::to_string(count) + " entries for " +
                std::to_string(needed) + " " + what);
    };
    const std::size_t outputs = graph_.entries_.size();
    counted("storage_id", symbol_.storage_id.size(), outputs, "node outputs");
    counted("shape", symbol_.shape.size(), outputs, "node outputs");
    counted("op_attrs", symbol_.op_attrs.size(), graph_.nodes_.size(), "nodes");
    if (symbol_.dltype) counted("dltype", symbol_.dltype->size(), outputs, "node outputs");
    if (symbol_.precision) counted("precision", symbol_.precision->size(), outputs, "node outputs");
  }

  // cvm_1.0.0 states some facts twice, and both have to agree; cvm_1.1.0 ignores the copies.
  void check_implied() const {
    std::vector<i64> arguments, rows{0};
    for (int i = 0; i < size(); ++i) {
      const Node& n = graph_.nodes_[static_cast<std::size_t>(i)];
      if (n.is_variable()) arguments.push_back(i);
      rows.push_back(n.first_entry + n.entry_count);
    }
    if (symbol_.arg_nodes && *symbol_.arg_nodes != arguments)
      refuse("model.implied", "arg_nodes", "it does not list the variables");
    if (symbol_.node_row_ptr && *symbol_.node_row_ptr != rows)
      refuse("model.implied", "node_row_ptr", "it does not count the outputs of the nodes");
    if (!symbol_.dltype) return;
    for (std::size_t e = 0; e < symbol_.dltype->size(); ++e)
      if (const std::string& type = (*symbol_.dltype)[e]; type != "int32")
        refuse("model.dtype", entry_path("dltype", static_cast<i64>(e)),
            "dltype " + quoted(type) + " is not int32");
  }

  void check_precisions() const {
    if (!symbol_.precision) return;
    for (std::size_t e = 0; e < symbol_.precision->size(); ++e) {
      const i64 p = (*symbol_.precision)[e];
      if (p != -1 && (p < 1 || p > kMaxPrecision))
        fail("model.precision", entry_path("precision", static_cast<i64>(e)),
            graph_.entries_[e].node,
            "the declared precision " + std::to_string(p) + " is neither -1 nor in 1..32");
    }
  }

  Shape declared(int e) const { return to_shape(symbol_.shape[static_cast<std::size_t>(e)]); }

  void type(int i) {
    for (int k = 0; k < node(i).entry_count; ++k) {
      const int e = node(i).first_entry + k;
      entry(e).storage_id = symbol_.storage_id[static_cast<std::size_t>(e)];
    }
    const SymbolNode& w = written(i);
    if (w.op_attrs && *w.op_attrs != symbol_.op_attrs[static_cast<std::size_t>(i)])
      fail("model.node", node_path(i, ".attrs.op_attrs"), i,
          "its op_attrs are not those of attrs.op_attrs");
    if (node(i).is_variable())
      declare(node(i).first_entry);
    else
      infer(i);
  }

  void declare(int e) {
    Type& t = entry(e).type;
    t.shape = declared(e);
    if (!legal(t.shape))
      fail("model.shape", entry_path("shape", e), entry(e).node,
          shape_text(t.shape) + " is no shape of rank 1..6, extents 1..2^24 and volume up to 2^30");
    // A variable that states no precision has the widest.
    const i64 p = symbol_.precision ? (*symbol_.precision)[static_cast<std::size_t>(e)] : -1;
    t.precision = p == -1 ? kMaxPrecision : static_cast<int>(p);
  }

  // The path to what the refusal of a call is about.
  std::string path_of(const Refusal& r, int i) const {
    if (r.scope == "input") return at(node_path(i, ".inputs"), r.which);
    return r.is("op", "inputs") ? node_path(i, ".inputs") : node_path(i);
  }

  // The declared shape, or its first extent that differs, where the ranks are equal.
  std::string shape_path(int e, const Shape& inferred) const {
    std::string path = entry_path("shape", e);
    const Shape shape = declared(e);
    if (shape.size != inferred.size) return path;
    return at(
        path, std::mismatch(shape.begin(), shape.end(), inferred.begin()).first - shape.begin());
  }

  void infer(int i) {
    Node& n = node(i);
    const TextAttributes& texts = symbol_.op_attrs[static_cast<std::size_t>(i)];
    ReadAttributes read = read_attributes(*n.op, {texts.begin(), texts.end()});
    if (!read.label.empty())
      fail(read.label, entry_path("op_attrs", i), i, params::printable(read.message, 400));
    n.attrs = std::move(read.values);
    std::vector<Type> in;
    for (int e : n.inputs) in.push_back(entry(e).type);
    const Types types{in.data(), static_cast<int>(in.size())};
    if (const Refusal r = check(*n.op, n.attributes(), types); r.refused())
      fail(r.label(), path_of(r, i), i, explain(*n.op, r, n.attributes(), types));
    const Inferred y = n.op->infer(n.attributes(), types);
    for (int k = 0; k < y.count; ++k) {
      const int e = n.first_entry + k;
      entry(e).type = y[k];
      if (y[k].shape != declared(e))
        fail("model.shape", shape_path(e, y[k].shape), i,
            "output " + std::to_string(k) + " is declared " + shape_text(declared(e)) +
                " and inferred " + shape_text(y[k].shape));
    }
  }

  void find_heads() {
    for (const Reference& r : symbol_.heads)
      graph_.heads_.push_back(resolve(r, size(), "head", std::ssize(graph_.heads_)));
    if (graph_.heads_.empty()) refuse("model.heads", "heads", "the model has no head");
  }

  void check_heads() {
    const std::size_t count = graph_.heads_.size();
    if (has_argmax(graph_) && count != 1)
      refuse("model.heads", "heads", "argmax needs one head and has " + std::to_string(count));
    const Type& first = entry(graph_.heads_[0]).type;
    const i64 size = output_element_size(graph_);
    i64 bytes = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Type& head = entry(graph_.heads_[k]).type;
      if (row_count(head) != row_count(first))
        refuse("model.heads", at("heads", static_cast<i64>(k)),
            "the heads " + shape_text(first.shape) + " and " + shape_text(head.shape) +
                " have different counts of rows and cannot be interleaved");
      bytes += size * volume(head.shape);
      if (bytes > kMaxStorageBytes)
        refuse(
            "model.heads", at("heads", static_cast<i64>(k)), "the heads have more than 2^32 bytes");
    }
  }

  void find_last_uses() {
    for (Entry& e : graph_.entries_) e.last_use = node(e.node).is_variable() ? -1 : e.node;
    for (int i = 0; i < size(); ++i)
      for (int e : node(i).inputs) entry(e).last_use = i;
    for (int i = 0; i < size(); ++i)
      if (node(i).is_variable() && node(i).first_entry != graph_.data_)
        entry(node(i).first_entry).last_use = graph_.forever();
    for (int e : graph_.heads_) entry(e).last_use = graph_.forever();
  }

  const Symbol& symbol_;
  Graph& graph_;
};

Graph::Graph(std::string_view symbol_json) {
  const Symbol symbol = read_symbol(symbol_json);
  GraphBuilder(symbol, *this).build();
}

i64 row_count(const Type& head) { return volume(head.shape) / head.dim(head.rank() - 1); }

std::string at(const std::string& list, i64 index) {
  return list + "[" + std::to_string(index) + "]";
}

std::string entry_path(const std::string& list, i64 index) {
  return at("attrs." + list + "[1]", index);
}

std::string describe(const Graph& graph, int node) {
  return "node " + std::to_string(node) + " " +
      quoted(graph.nodes()[static_cast<std::size_t>(node)].name);
}

}  // namespace lockstep::graph
