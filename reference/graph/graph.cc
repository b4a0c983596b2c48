#include "reference/graph/graph.h"

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
      throw Error("model.version", quoted(symbol_.version) + " is no known version");
    for (const SymbolNode& node : symbol_.nodes) graph_.nodes_.push_back({node.name, {}, {}, {}});
    for (int i = 0; i < size(); ++i) link(i);
    check_variables();
    check_counts();
    if (symbol_.version == kFirstVersion) check_implied();
    if (!symbol_.device_index_is_empty)
      throw Error("model.device", "attrs.device_index is given; a model binds to no device");
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

  [[noreturn]] void fail(const char* label, int i, const std::string& why) const {
    throw Error(label, describe(graph_, i) + ": " + why);
  }

  // Inputs, operator and the counts a node states.
  void link(int i) {
    const SymbolNode& w = written(i);
    const bool is_variable = w.op == "null";
    if (!is_variable && w.op != "cvm_op")
      fail("model.node", i, "op " + quoted(w.op) + " is neither \"null\" nor \"cvm_op\"");
    for (const Reference& r : w.inputs) node(i).inputs.push_back(resolve(r, i, "input"));
    if (is_variable) {
      if (!w.inputs.empty()) fail("model.node", i, "a variable has inputs");
      if (w.func_name) fail("model.node", i, "a variable has a func_name");
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
        fail("model.node", i,
            std::string(key) + " is " + quoted(*text) + " where there are " +
                std::to_string(count));
    };
    states("num_inputs", w.num_inputs, w.inputs.size());
    states("num_outputs", w.num_outputs, static_cast<std::size_t>(node(i).entry_count));
    if (w.flatten_data && *w.flatten_data != "0" && *w.flatten_data != "1")
      fail("model.node", i, "flatten_data is " + quoted(*w.flatten_data) + ", neither 0 nor 1");
  }

  void find_function(int i) {
    const SymbolNode& w = written(i);
    if (!w.func_name) fail("model.key", i, "attrs.func_name is missing");
    node(i).op = find_operator(without_number(*w.func_name));
    if (!node(i).op) fail("op.unknown", i, "no operator is called " + quoted(*w.func_name));
  }

  // The entry that a reference names, among the nodes before `limit`.
  int resolve(const Reference& r, int limit, const char* what) {
    const auto refuse = [&](int count, const std::string& of) {
      const std::string who = limit < size() ? describe(graph_, limit) + ": " : std::string();
      throw Error("model.reference",
          who + what + " [" + std::to_string(r.node) + "," + std::to_string(r.output) +
              "] names none of the " + std::to_string(count) + " " + of);
    };
    if (r.node < 0 || r.node >= limit) refuse(limit, "nodes it may");
    const int from = static_cast<int>(r.node), outputs = node(from).entry_count;
    if (r.output < 0 || r.output >= outputs)
      refuse(outputs, "outputs of " + describe(graph_, from));
    return node(from).first_entry + static_cast<int>(r.output);
  }

  void check_variables() {
    std::set<std::string_view> names;
    for (int i = 0; i < size(); ++i) {
      if (!node(i).is_variable()) continue;
      if (!names.insert(node(i).name).second)
        fail("model.variable", i, "an earlier variable has the same name");
      if (node(i).name == "data") graph_.data_ = node(i).first_entry;
    }
    if (graph_.data_ < 0) throw Error("model.variable", "no variable is called \"data\"");
  }

  void check_counts() const {
    const auto counted = [](const char* key, std::size_t count, std::size_t needed,
                             const char* what) {
      if (count != needed)
        throw Error("model.count",
            "attrs." + std::string(key) + " has " + std::to_string(count) + " entries for " +
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
      throw Error("model.implied", "arg_nodes does not list the variables");
    if (symbol_.node_row_ptr && *symbol_.node_row_ptr != rows)
      throw Error("model.implied", "node_row_ptr does not count the outputs of the nodes");
    if (!symbol_.dltype) return;
    for (const std::string& type : *symbol_.dltype)
      if (type != "int32") throw Error("model.dtype", "dltype " + quoted(type) + " is not int32");
  }

  void check_precisions() const {
    if (!symbol_.precision) return;
    for (std::size_t e = 0; e < symbol_.precision->size(); ++e) {
      const i64 p = (*symbol_.precision)[e];
      if (p != -1 && (p < 1 || p > kMaxPrecision))
        fail("model.precision", graph_.entries_[e].node,
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
      fail("model.node", i, "its op_attrs are not those of attrs.op_attrs");
    if (node(i).is_variable())
      declare(node(i).first_entry);
    else
      infer(i);
  }

  void declare(int e) {
    Type& t = entry(e).type;
    t.shape = declared(e);
    if (!legal(t.shape))
      fail("model.shape", entry(e).node,
          shape_text(t.shape) + " is no shape of rank 1..6, extents 1..2^24 and volume up to 2^30");
    // A variable that states no precision has the widest.
    const i64 p = symbol_.precision ? (*symbol_.precision)[static_cast<std::size_t>(e)] : -1;
    t.precision = p == -1 ? kMaxPrecision : static_cast<int>(p);
  }

  void infer(int i) {
    Node& n = node(i);
    const TextAttributes& texts = symbol_.op_attrs[static_cast<std::size_t>(i)];
    ReadAttributes read = read_attributes(*n.op, {texts.begin(), texts.end()});
    if (!read.label.empty())
      throw Error(read.label, describe(graph_, i) + ": " + params::printable(read.message, 400));
    n.attrs = std::move(read.values);
    std::vector<Type> in;
    for (int e : n.inputs) in.push_back(entry(e).type);
    const Types types{in.data(), static_cast<int>(in.size())};
    if (const Refusal r = check(*n.op, n.attributes(), types); r.refused())
      throw Error(r.label(), describe(graph_, i) + ": " + explain(*n.op, r, n.attributes(), types));
    const Inferred y = n.op->infer(n.attributes(), types);
    for (int k = 0; k < y.count; ++k) {
      const int e = n.first_entry + k;
      entry(e).type = y[k];
      if (y[k].shape != declared(e))
        fail("model.shape", i,
            "output " + std::to_string(k) + " is declared " + shape_text(declared(e)) +
                " and inferred " + shape_text(y[k].shape));
    }
  }

  void find_heads() {
    for (const Reference& r : symbol_.heads) graph_.heads_.push_back(resolve(r, size(), "head"));
    if (graph_.heads_.empty()) throw Error("model.heads", "the model has no head");
  }

  void check_heads() {
    const std::size_t count = graph_.heads_.size();
    if (has_argmax(graph_) && count != 1)
      throw Error("model.heads", "argmax needs one head and has " + std::to_string(count));
    const Type& first = entry(graph_.heads_[0]).type;
    i64 bytes = 0;
    for (int e : graph_.heads_) {
      const Type& head = entry(e).type;
      if (row_count(head) != row_count(first))
        throw Error("model.heads",
            "the heads " + shape_text(first.shape) + " and " + shape_text(head.shape) +
                " have different counts of rows and cannot be interleaved");
      bytes += output_element_size(graph_) * volume(head.shape);
      if (bytes > kMaxStorageBytes)
        throw Error("model.heads", "the heads have more than 2^32 bytes");
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

std::string describe(const Graph& graph, int node) {
  return "node " + std::to_string(node) + " " +
      quoted(graph.nodes()[static_cast<std::size_t>(node)].name);
}

}  // namespace lockstep::graph
