// Lists a model: its nodes with types, gas and memory, or a picture of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "conformance/cli/model.h"
#include "reference/graph/bytes.h"
#include "reference/graph/load.h"

namespace lockstep::judge {
namespace {

struct ModelShowOptions {
  std::string directory, json_file, dot_file, svg_file;
};

documents::OutputOf output_of(const graph::Graph& graph, int entry) {
  const int node = graph.entry(entry).node;
  return {node, entry - graph.nodes()[static_cast<std::size_t>(node)].first_entry};
}

documents::ShownNode shown(const graph::Graph& graph, const graph::Node& n) {
  documents::ShownNode s{n.name, n.is_variable() ? "" : operator_text(*n.op, n.attrs),
      graph::gas_of(graph, n), {}, {}};
  for (const int e : n.inputs) s.inputs.push_back(output_of(graph, e));
  for (int k = 0; k < n.entry_count; ++k) {
    const graph::Entry& e = graph.entry(n.first_entry + k);
    s.outputs.push_back({{e.type.shape.begin(), e.type.shape.end()}, e.type.precision,
        static_cast<i64>(sizeof(i32)) * volume(e.type.shape), e.storage_id});
  }
  return s;
}

documents::Shown shown(const graph::Graph& graph) {
  documents::Shown s{.version = graph.version(),
      .postprocess = graph.postprocess(),
      .input_bytes = graph::input_length(graph),
      .input_element_bytes = graph::input_element_size(graph),
      .output_bytes = graph::output_length(graph),
      .output_element_bytes = graph::output_element_size(graph),
      .storage_bytes = graph.storage_bytes(),
      .gas = graph.gas(),
      .heads = {},
      .nodes = {}};
  for (const int e : graph.heads()) s.heads.push_back(output_of(graph, e));
  for (const graph::Node& n : graph.nodes()) {
    s.nodes.push_back(shown(graph, n));
    for (const documents::ShownTensor& t : s.nodes.back().outputs) {
      s.tensor_bytes += t.bytes;
      if (n.is_variable() && n.first_entry != graph.data())
        s.parameter_bytes += t.bytes, ++s.parameters;
    }
  }
  return s;
}

std::string name_of(const documents::Shown& s, const documents::OutputOf& o) {
  const std::string name = printable(s.nodes[static_cast<std::size_t>(o.node)].name);
  return o.output == 0 ? name : name + ":" + std::to_string(o.output);
}

std::string spelt(const documents::ShownTensor& t) {
  return fmt::format("{}@{}", fmt::join(t.shape, "x"), t.precision);
}

template <class List, class Text> std::string joined(const List& list, Text text) {
  std::string all;
  for (const auto& element : list) all += (all.empty() ? "" : " ") + text(element);
  return all;
}

using TableRow = std::array<std::string, 7>;

TableRow row_of(const documents::Shown& s, const documents::ShownNode& n) {
  const i64 bytes = std::accumulate(n.outputs.begin(), n.outputs.end(), i64{0},
      [](i64 sum, const documents::ShownTensor& t) { return sum + t.bytes; });
  return {printable(n.name), n.call.empty() ? "variable" : n.call.substr(0, n.call.find('/')),
      joined(n.outputs, spelt), std::to_string(n.gas), std::to_string(bytes),
      joined(n.outputs, [](const auto& t) { return std::to_string(t.storage); }),
      joined(n.inputs, [&](const auto& o) { return name_of(s, o); })};
}

// Aligns numbers to the right of their columns, and prints nothing after the last word of a row.
void print(const std::vector<TableRow>& rows) {
  std::array<std::size_t, std::tuple_size_v<TableRow>> width{};
  for (const TableRow& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool number = k >= 3 && k <= 5;
      line += number ? fmt::format("{:>{}}  ", row[k], width[k])
                     : fmt::format("{:<{}}  ", row[k], width[k]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

void print(const documents::Shown& s) {
  std::vector<TableRow> rows = {{"node", "operator", "type", "gas", "bytes", "storage", "inputs"}};
  for (const documents::ShownNode& n : s.nodes) rows.push_back(row_of(s, n));
  rows.push_back({"total", "", "", std::to_string(s.gas), std::to_string(s.tensor_bytes), "", ""});
  print(rows);
  const auto element = [](i64 bytes) { return bytes == 1 ? "int8" : "int32"; };
  const std::string after =
      s.postprocess.empty() ? "no postprocess" : "postprocess " + printable(s.postprocess);
  fmt::print("\nversion     {}, {}\n", s.version, after);
  fmt::print("heads       {}\n", joined(s.heads, [&](const auto& o) { return name_of(s, o); }));
  fmt::print("input       {} bytes, {}\n", s.input_bytes, element(s.input_element_bytes));
  fmt::print("output      {} bytes, {}\n", s.output_bytes, element(s.output_element_bytes));
  fmt::print("parameters  {} bytes, int32, in {} tensors\n", s.parameter_bytes, s.parameters);
  fmt::print("storage     {} bytes for {} bytes of tensors\n", s.storage_bytes, s.tensor_bytes);
  fmt::print("gas         {}\n", s.gas);
}

void show(const ModelShowOptions& o) {
  const std::vector<std::string> files = {o.json_file, o.dot_file, o.svg_file};
  require_writable(files);
  const graph::Graph graph = graph::load_graph(o.directory);
  if (std::all_of(files.begin(), files.end(), [](const auto& file) { return file.empty(); }))
    return print(shown(graph));
  if (!o.json_file.empty()) write_output(o.json_file, document_text(shown(graph)));
  if (!o.dot_file.empty()) write_output(o.dot_file, dot_of(graph));
  if (!o.svg_file.empty()) write_output(o.svg_file, svg_of(graph));
}

}  // namespace

void add_model_show(CLI::App& group, Session&) {
  auto o = std::make_shared<ModelShowOptions>();
  CLI::App* verb = group.add_subcommand(
      "show", "List a model's nodes with types, gas, memory and inputs, and its sizes; or draw it");
  verb->add_option("model", o->directory, "a directory with symbol.json")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option("--json", o->json_file, "write the list as JSON instead; - is standard output");
  verb->add_option(
      "--dot", o->dot_file, "write the graph for Graphviz instead; - is standard output");
  verb->add_option(
      "--svg", o->svg_file, "write a picture of the graph instead; - is standard output");
  verb->callback([o] { show(*o); });
}

}  // namespace lockstep::judge
