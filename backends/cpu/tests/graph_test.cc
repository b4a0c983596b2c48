// Compiled graphs against the same calls one by one through the reference: drawn graphs of chains
// and branches, with shared results, several heads and constants; and what is refused.
#include <gtest/gtest.h>

#include "backends/cpu/tests/subject.h"
#include "spec/check.h"

namespace lockstep::cpu {
namespace {

/// A graph with the value of every entry.
struct DrawnGraph {
  struct Node {
    const OpInfo* op;
    std::vector<Attr> attrs;
    std::vector<uint32_t> in;
    uint32_t out;
  };
  std::vector<Node> nodes;
  std::vector<reference::Tensor> entries;
  std::vector<uint32_t> feeds, constants, heads;
};

uint32_t add_entry(DrawnGraph& g, reference::Tensor t) {
  g.entries.push_back(std::move(t));
  return static_cast<uint32_t>(g.entries.size()) - 1;
}

reference::Tensor drawn_tensor(const Type& type, Draw& draw) {
  reference::Tensor t{type, std::vector<i32>(static_cast<std::size_t>(volume(type.shape)))};
  const i64 most = max_of(type.precision);
  for (i32& v : t.data) v = static_cast<i32>(draw(-most, most));
  return t;
}

// Integers of attributes by operator; those that a graph can repeat.
struct Choice {
  const char* op;
  int inputs;
  std::vector<Tuple> ints;
};

std::vector<Choice> choices(Draw& draw) {
  const i64 bits = draw(4, 12), shift = draw(1, 5);
  return {{"relu", 1, {}}, {"abs", 1, {}}, {"negative", 1, {}}, {"cvm_clip", 1, {{bits}, {1}}},
      {"cvm_right_shift", 1, {{bits}, {shift}, {1}}}, {"broadcast_add", 2, {}},
      {"broadcast_sub", 2, {}}, {"broadcast_mul", 2, {}}, {"broadcast_max", 2, {}},
      {"broadcast_greater", 2, {}}, {"broadcast_div", 2, {}}, {"where", 3, {}},
      {"elemwise_add", 2, {}}, {"transpose", 1, {{0, 1, 3, 2}}}, {"cvm_precision", 1, {}},
      {"max", 1, {{3}, {1}, {0}}}};
}

// Appends a node whose inputs are drawn from the entries, recent ones rather, if the call is legal.
void try_node(DrawnGraph& g, Draw& draw) {
  const std::vector<Choice> all = choices(draw);
  const Choice& c = all[static_cast<std::size_t>(draw(0, static_cast<i64>(all.size()) - 1))];
  DrawnGraph::Node n{find_operator(c.op), {}, {}, 0};
  for (int i = 0; i < n.op->attrs.size(); ++i) {
    Attr a = n.op->attrs[i].fallback;
    if (static_cast<std::size_t>(i) < c.ints.size()) {
      a.none = false;
      a.ints = c.ints[static_cast<std::size_t>(i)];
    }
    n.attrs.push_back(a);
  }
  std::vector<Type> types;
  std::vector<reference::Tensor> in;
  const i64 last = static_cast<i64>(g.entries.size()) - 1;
  for (int k = 0; k < c.inputs; ++k) {
    n.in.push_back(static_cast<uint32_t>(draw(0, 2) > 0 ? last : draw(0, last)));
    in.push_back(g.entries[n.in.back()]);
    types.push_back(in.back().type);
  }
  const Attributes attrs{n.attrs.data(), static_cast<int>(n.attrs.size())};
  if (check(*n.op, attrs, {types.data(), static_cast<int>(types.size())}).refused()) return;
  n.out = add_entry(g, reference::outputs(*n.op, attrs, in)[0]);
  g.nodes.push_back(std::move(n));
}

DrawnGraph drawn_graph(Draw& draw) {
  DrawnGraph g;
  const Shape shape{
      draw(1, 2), draw(1, 5), draw(1, 9), draw(0, 3) == 0 ? draw(30, 70) : draw(1, 9)};
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  if (draw.coin()) g.feeds.push_back(add_entry(g, drawn_tensor({shape, 12}, draw)));
  g.constants.push_back(add_entry(g, drawn_tensor({{shape[1], 1, 1}, 6}, draw)));
  if (draw.coin()) g.constants.push_back(add_entry(g, drawn_tensor({shape, 3}, draw)));
  for (i64 k = draw(1, 14); k > 0; --k) try_node(g, draw);
  const i64 last = static_cast<i64>(g.entries.size()) - 1;
  g.heads.push_back(static_cast<uint32_t>(last));
  for (i64 k = draw(0, 2); k > 0; --k) g.heads.push_back(static_cast<uint32_t>(draw(0, last)));
  return g;
}

bool contains(const std::vector<uint32_t>& all, uint32_t e) {
  return std::find(all.begin(), all.end(), e) != all.end();
}

// Compiles and runs a graph, with every outer tensor in a layout of its own.
void judge_graph(const client::Backend& backend, const DrawnGraph& g, Draw& draw) {
  std::vector<Placed> placed, heads;
  for (const reference::Tensor& t : g.entries) placed.emplace_back(t, draw);
  client::Graph graph{{}, {}, g.feeds, g.heads};
  for (const DrawnGraph::Node& n : g.nodes)
    graph.nodes.push_back({std::string(n.op->name),
        client::attributes_of(*n.op, {n.attrs.data(), static_cast<int>(n.attrs.size())}), n.in,
        {n.out}});
  for (uint32_t e = 0; e < placed.size(); ++e) {
    const bool is_given = contains(g.feeds, e) || contains(g.constants, e);
    if (is_given) placed[e].for_each([](i32& element, i32 value) { element = value; });
    graph.entries.push_back(placed[e].view(contains(g.constants, e)));
  }
  auto plan = backend.compile(graph);
  ASSERT_TRUE(plan.ok()) << plan.status().label << ": " << plan.status().text;
  std::vector<Placed> in;
  for (const uint32_t e : g.feeds) in.push_back(placed[e]);
  for (const uint32_t e : g.heads) {
    heads.push_back(placed[e]);
    std::fill(heads.back().memory.begin(), heads.back().memory.end(), kPoison);
  }
  for (int run = 0; run < 2; ++run) execute(*plan, in, heads);
}

TEST(Graphs, GiveWhatTheirCallsGive) {
  for (const client::Options& options : {client::Options{{"threads", "1"}}, {{"threads", "3"}},
           {{"isa", "portable"}}, {{"tuned", "0"}}}) {
    const client::Backend backend = open_backend(options).value();
    for (uint64_t seed = 0; seed < 1500 && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Seeded draw(seed << 32);
      const DrawnGraph g = drawn_graph(draw);
      judge_graph(backend, g, draw);
    }
  }
}

// relu of a feed; entry 0 is the feed, entry 1 the result.
client::Graph relu_graph(const Placed& x, const Placed& y) {
  client::Graph g;
  g.nodes.push_back({"relu", {}, {0}, {1}});
  g.entries = {const_cast<Placed&>(x).view(false), const_cast<Placed&>(y).view(false)};
  g.feeds = {0};
  g.heads = {1};
  return g;
}

TEST(Graphs, AreRefusedWithTheFaultyNode) {
  Seeded draw(1);
  const reference::Tensor t = drawn_tensor({{2, 3}, 8}, draw);
  const Placed x(t, draw), y(t, draw);
  const client::Backend backend = open_backend().value();
  const struct {
    const char *label, *named;
    void (*spoil)(client::Graph&);
  } rows[] = {
      {"graph.entry", "input of node 0 is entry 7 of 2", [](auto& g) { g.nodes[0].in = {7}; }},
      {"graph.entry", "head 0 is entry 2 of 2", [](auto& g) { g.heads = {2}; }},
      {"graph.order", "node 0 reads entry 1", [](auto& g) { g.nodes[0].in = {1}; }},
      {"graph.order", "head 0 reads entry 1", [](auto& g) { g.nodes.clear(); }},
      {"graph.written", "node 0 writes entry 0 again", [](auto& g) { g.nodes[0].out = {0}; }},
      {"graph.written", "feed 1 writes entry 0 again",
          [](auto& g) {
            g.feeds = {0, 0};
          }},
      {"op.unknown", "rleu", [](auto& g) { g.nodes[0].op = "rleu"; }},
      {"op.inputs", "", [](auto& g) {
         g.nodes[0].in = {0, 0};
       }}};
  for (const auto& row : rows) {
    client::Graph g = relu_graph(x, y);
    row.spoil(g);
    const client::Status status = backend.compile(g).status();
    EXPECT_EQ(status.code, LS_LOGIC) << row.label;
    EXPECT_EQ(status.label, row.label) << status.text;
    EXPECT_NE(status.text.find(row.named), std::string::npos) << status.text;
  }
}

}  // namespace
}  // namespace lockstep::cpu
