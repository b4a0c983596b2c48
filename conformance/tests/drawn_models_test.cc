// Drawn graphs as models on disk, with several heads and a storage plan: the loader accepts every
// plan, and each way to run one gives the bytes of the specification.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "conformance/tests/drawn_graph.h"
#include "conformance/tests/program.h"
#include "containers/array/dictionary.h"
#include "reference/graph/arrays.h"
#include "reference/graph/load.h"
#include "reference/graph/plan.h"
#include "reference/graph/run.h"
#include "reference/graph/zoo/network.h"
#include "runtime/session.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

using Values = std::vector<std::vector<i32>>;

constexpr u64 kSeeds = 24;
constexpr std::size_t kHeads = 3;  // of a model, and sometimes more

// A graph as a model: its first feed is "data", what else it is given are parameters.
struct DrawnModel {
  graph::Symbol symbol;
  std::vector<ndarray::NamedArray> parameters;
};

graph::TextAttributes texts_of(const CallGraph::Node& n) {
  graph::TextAttributes texts;
  for (int i = 0; i < n.op->attrs.size(); ++i)
    texts[std::string(n.op->attrs[i].name)] =
        attribute_text(n.op->attrs[i], n.attrs[static_cast<std::size_t>(i)]);
  return texts;
}

DrawnModel model_of(const CallGraph& g) {
  DrawnModel m;
  graph::Symbol& s = m.symbol;
  std::vector<graph::Reference> places(g.entries.size());
  s.precision.emplace();
  const auto add = [&](graph::SymbolNode node, graph::TextAttributes texts,
                       std::span<const int> entries) {
    for (const int& e : entries) {
      const Type& type = g.entries[static_cast<std::size_t>(e)].type;
      places[static_cast<std::size_t>(e)] = {
          std::ssize(s.nodes), static_cast<i64>(&e - entries.data())};
      s.storage_id.push_back(std::ssize(s.storage_id));
      s.shape.emplace_back(type.shape.begin(), type.shape.end());
      s.precision->push_back(type.precision);
    }
    s.nodes.push_back(std::move(node));
    s.op_attrs.push_back(std::move(texts));
  };
  const auto references = [&](const std::vector<int>& entries) {
    std::vector<graph::Reference> all;
    for (const int e : entries) all.push_back(places[static_cast<std::size_t>(e)]);
    return all;
  };
  for (int e = 0; e < g.given; ++e) {
    const Tensor& t = g.entries[static_cast<std::size_t>(e)];
    const std::string name = e == 0 ? "data" : "e" + std::to_string(e);
    graph::SymbolNode node;
    node.op = "null";
    node.name = name;
    add(std::move(node), {}, {&e, 1});
    if (e > 0) m.parameters.push_back({name, graph::array_of(t.type.shape, t.data)});
  }
  for (const CallGraph::Node& n : g.nodes) {
    graph::SymbolNode node;
    node.op = "cvm_op";
    node.name = "call " + std::to_string(s.nodes.size());
    node.inputs = references(n.in);
    node.func_name = n.op->name;
    node.num_inputs = std::to_string(n.in.size());
    node.num_outputs = std::to_string(n.out.size());
    add(std::move(node), texts_of(n), n.out);
  }
  s.heads = references(g.heads);
  return m;
}

// The graph with other heads: drawn results, as many as there are with one count of rows.
CallGraph with_heads(CallGraph g, u64 seed) {
  std::map<i64, std::vector<int>> by_rows;
  for (int e = g.given; e < static_cast<int>(g.entries.size()); ++e)
    by_rows[graph::row_count(g.entries[static_cast<std::size_t>(e)].type)].push_back(e);
  Seeded draw(seed);
  g.heads.clear();
  for (auto& [rows, alike] : by_rows) {
    for (i64 k = std::ssize(alike) - 1; k > 0; --k)
      std::swap(alike[static_cast<std::size_t>(k)], alike[static_cast<std::size_t>(draw(0, k))]);
    alike.resize(std::min(alike.size(), kHeads + seed % kHeads));
    if (alike.size() > g.heads.size()) g.heads = alike;
  }
  return g;
}

Values expected(const CallGraph& g) {
  Values all;
  for (const int e : g.heads) all.push_back(g.entries[static_cast<std::size_t>(e)].data);
  return all;
}

Values by_reference(const graph::Model& model, const Tensor& data) {
  graph::ReferenceEngine engine;
  Values all;
  for (Tensor& t : graph::Runner(model, engine).run(data)) all.push_back(std::move(t.data));
  return all;
}

Values by_session(const std::string& directory, const Tensor& data, runtime::Form form) {
  runtime::Session session = runtime::Session::load(directory, {.form = form});
  Values all;
  for (const auto& head : session.run(graph::array_of(data.type.shape, data.data))) {
    const auto values = graph::values_of(head);
    all.emplace_back(values.begin(), values.end());
  }
  return all;
}

// Writes a model with a plan made of the graph that it describes, and loads it again, so that
// check_storage judges the plan.
graph::Model planned(const Scratch& scratch, DrawnModel m, graph::Reuse reuse) {
  m.symbol.storage_id =
      graph::plan_storage(graph::Graph(graph::zoo::write_symbol(m.symbol)), reuse);
  scratch.write("symbol.json", graph::zoo::write_symbol(m.symbol));
  ndarray::save_file(scratch.path("params"), m.parameters);
  graph::Model model = graph::load_model(scratch.path(""));
  for (std::size_t e = 0; e < m.symbol.storage_id.size(); ++e)
    EXPECT_EQ(model.graph().entry(static_cast<int>(e)).storage_id, m.symbol.storage_id[e]);
  return model;
}

// How often models of graphs shared storage, by the way in which it was planned.
struct Shared {
  int dead = 0, in_place = 0, models = 0;
};

void run_as_models(const CallGraph& g, const Scratch& scratch, Shared& shared) {
  SCOPED_TRACE(graph_text(g));
  const DrawnModel m = model_of(g);
  const i64 apart = graph::Graph(graph::zoo::write_symbol(m.symbol)).storage_bytes();
  i64 least = apart;
  ++shared.models;
  for (const auto& [reuse, count] : {std::pair{graph::Reuse::dead, &Shared::dead},
           std::pair{graph::Reuse::in_place, &Shared::in_place}}) {
    const graph::Model model = planned(scratch, m, reuse);
    const i64 bytes = model.graph().storage_bytes();
    EXPECT_LE(bytes, apart);
    shared.*count += bytes < least;
    least = std::min(least, bytes);
    EXPECT_EQ(by_reference(model, g.entries[0]), expected(g));
    for (const runtime::Form form : {runtime::Form::whole, runtime::Form::calls})
      EXPECT_EQ(by_session(scratch.path(""), g.entries[0], form), expected(g));
  }
}

TEST(DrawnModels, GiveTheBytesOfTheSpecificationUnderEveryPlan) {
  const Scratch scratch;
  Shared shared;
  for (const OpInfo* op : operators())
    for (u64 seed = 0; seed < kSeeds; ++seed) {
      const CallGraph g = with_heads(drawn_graph(*op, seed), seed);
      if (g.heads.size() >= kHeads) run_as_models(g, scratch, shared);
      if (testing::Test::HasFailure()) return;
    }
  EXPECT_GT(shared.models, 500);
  EXPECT_GT(shared.dead, shared.models / 8) << "plans reuse the storage of what is dead";
  EXPECT_GT(shared.in_place, shared.models / 8) << "and more where calls work in place";
}

}  // namespace
}  // namespace lockstep::judge
