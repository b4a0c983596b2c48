// Any text as a model's symbol JSON.
//
// A refusal has a label of models or of calls. The same document in another spelling (keys sorted,
// no blanks) has the same outcome. An accepted model keeps the promises of graph.h and runs twice
// with the same result, with parameters of its own types, within the memory that it announces. The
// CPU backend gives the same, compiled and call by call.
#include <nlohmann/json.hpp>

#include "fuzz/target.h"
#include "reference/graph/arrays.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"
#include "reference/graph/run.h"
#include "runtime/program.h"
#include "spec/random.h"

namespace {

using namespace lockstep;
using namespace lockstep::graph;
using fuzz::hold;
using fuzz::violated;

struct Loaded {
  std::optional<Graph> graph;
  std::string label, message;
};

Loaded read(std::string_view text) {
  try {
    return {Graph(text), {}, {}};
  } catch (const Error& e) {
    return {std::nullopt, e.label(), e.what()};
  }
}

bool same(const Graph& a, const Graph& b) {
  const auto same_node = [](const Node& x, const Node& y) {
    return x.name == y.name && x.op == y.op && x.attrs == y.attrs && x.inputs == y.inputs &&
        x.first_entry == y.first_entry && x.entry_count == y.entry_count;
  };
  const auto same_entry = [](const Entry& x, const Entry& y) {
    return x.type == y.type && x.node == y.node && x.storage_id == y.storage_id &&
        x.last_use == y.last_use;
  };
  return std::ranges::equal(a.nodes(), b.nodes(), same_node) &&
      std::ranges::equal(a.entries(), b.entries(), same_entry) && a.heads() == b.heads() &&
      a.data() == b.data() && a.postprocess() == b.postprocess() && a.version() == b.version() &&
      a.storage_bytes() == b.storage_bytes();
}

// The values of a variable: dense, and inside its precision.
ndarray::NDArray values(const Type& type, int entry) {
  std::vector<i32> drawn;
  const i64 most = max_of(type.precision);
  for (i64 k = 0, n = volume(type.shape); k < n; ++k)
    drawn.push_back(static_cast<i32>(
        within(word(1, static_cast<u64>(entry), static_cast<u64>(k)), -most, most)));
  return array_of(type.shape, std::move(drawn));
}

// The cost of a run, which is the sum of work() over its calls.
bool affordable(const Graph& graph) {
  i64 all = graph.storage_bytes() + output_length(graph);
  for (const Node& node : graph.nodes()) {
    if (node.is_variable()) continue;
    std::vector<Type> in;
    for (int e : node.inputs) in.push_back(graph.entry(e).type);
    const Types types{in.data(), static_cast<int>(in.size())};
    all += fuzz::work(types, node.op->infer(node.attributes(), types));
    if (all > fuzz::kMaxWork) return false;
  }
  return all <= fuzz::kMaxWork;
}

void hold_promises(const Graph& graph) {
  const int nodes = static_cast<int>(graph.nodes().size());
  for (const Entry& e : graph.entries()) {
    hold(legal(e.type.shape) && 1 <= e.type.precision && e.type.precision <= kMaxPrecision,
        "an entry has an illegal type");
    hold(0 <= e.node && e.node < nodes && e.last_use <= graph.forever(), "an entry is lost");
  }
  for (int i = 0; i < nodes; ++i)
    for (int e : graph.nodes()[static_cast<std::size_t>(i)].inputs)
      hold(graph.entry(e).node < i, "a node reads a later one");
  hold(graph.entry(graph.data()).node >= 0 && !graph.heads().empty(), "no data or no head");
  hold(check_storage(graph) == graph.storage_bytes(), "storage is counted in two ways");
}

// The heads that the CPU backend gives.
std::vector<std::vector<i32>> heads_of(
    const Model& model, const reference::Tensor& data, runtime::Form form) {
  static const client::Backend cpu =
      client::Backend::open(client::Library(lockstep_backend_v1()), {{"threads", "1"}}).value();
  std::vector<std::vector<i32>> heads;
  std::vector<i32*> places;
  for (const int e : model.graph().heads()) {
    const auto elements = static_cast<std::size_t>(volume(model.graph().entry(e).type.shape));
    places.push_back(heads.emplace_back(elements).data());
  }
  runtime::Program(cpu, model, form).run(data.data.data(), places);
  return heads;
}

void run(const Graph& graph) {
  Parameters parameters;
  for (const Node& node : graph.nodes())
    if (node.is_variable() && node.first_entry != graph.data())
      parameters[node.name] = values(graph.entry(node.first_entry).type, node.first_entry);
  const Model model(graph, std::move(parameters));
  ReferenceEngine engine;
  Runner runner(model, engine);
  const std::vector<std::byte> input(
      static_cast<std::size_t>(input_length(graph)), std::byte{0x5a});
  const reference::Tensor data = decode_input(graph, input);
  std::vector<std::vector<i32>> heads;
  for (reference::Tensor& head : runner.run(data)) heads.push_back(std::move(head.data));
  for (const runtime::Form form : {runtime::Form::whole, runtime::Form::calls})
    hold(heads_of(model, data, form) == heads, "the CPU backend differs");
  const auto first = runner.run(input);
  hold(std::ssize(first) == output_length(graph), "the output is not as long as announced");
  hold(runner.run(input) == first, "a second run differs");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const Loaded outcome = read(text);
  if (!outcome.graph && !outcome.label.starts_with("model.") &&
      !fuzz::is_label_of_calls(outcome.label))
    violated("a refusal has the unknown label " + outcome.label);
  // A text that is no JSON has no other spelling.
  if (!outcome.graph && outcome.label == "model.json") return 0;
  const Loaded again = read(nlohmann::json::parse(text).dump());
  hold(again.graph.has_value() == outcome.graph.has_value() && again.message == outcome.message,
      "the document written in another way has another outcome");
  if (!outcome.graph) return 0;
  hold(same(*outcome.graph, *again.graph), "the document written in another way is another graph");
  hold_promises(*outcome.graph);
  try {
    if (affordable(*outcome.graph)) run(*outcome.graph);
  } catch (const std::exception& e) {
    violated(std::string("a valid graph does not run: ") + e.what());
  }
  return 0;
}
