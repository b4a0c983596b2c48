// Compares compiled graphs with the same calls one by one on the reference: drawn graphs of chains
// and branches, with shared results, several heads and constants; drawn networks; and graphs that
// are refused.
#include <gtest/gtest.h>

#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cpu/tests/modes.h"

namespace lockstep::cpu {
namespace {

// Compiles and runs a graph, with every outer tensor in a layout of its own.
void judge_graph(const client::Backend& backend, const DrawnGraph& g, Draw& draw) {
  Ready ready = compiled(backend, g, draw);
  ASSERT_TRUE(ready.plan.ok()) << ready.plan.status().label << ": " << ready.plan.status().text;
  for (int run = 0; run < 2; ++run) execute(*ready.plan, ready.in, ready.out);
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

class Networks : public InEachMode {};

INSTANTIATE_TEST_SUITE_P(Modes, Networks, testing::ValuesIn(modes()),
    [](const auto& info) { return name_of(info.param); });

TEST_P(Networks, GiveWhatTheirCallsGive) {
  for (uint64_t seed = 0; seed < seeds(1000) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    judge_graph(backend, drawn_network(draw), draw);
  }
}

// Multiples of 64 channels, which a matrix unit keeps as pixels.
TEST_P(Networks, OfManyChannelsGiveWhatTheirCallsGive) {
  for (uint64_t seed = 0; seed < seeds(60) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    judge_graph(backend, drawn_wide_network(draw), draw);
  }
}

// The same of matrices.
TEST_P(Networks, OfManyUnitsGiveWhatTheirCallsGive) {
  for (uint64_t seed = 0; seed < seeds(500) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    judge_graph(backend, drawn_matrices(draw), draw);
  }
}

// Appends a product of an image that lies between results, and the calls that bring it to 8 bits.
void append_product(DrawnGraph& g, i64 channels, const Tuple& kernel, i64 shift, Draw& draw) {
  const uint32_t x = last_result(g);
  const uint32_t w =
      constant(g, {{channels, g.entries[x].type.dim(1), kernel[0], kernel[1]}, 8}, draw);
  const Tuple padding{kernel[0] / 2, kernel[1] / 2};
  ASSERT_TRUE(
      try_call(g, {"conv2d", 0, {{channels}, kernel, {1, 1}, padding, {1, 1}, {1}, {0}}}, {x, w}));
  ASSERT_TRUE(try_call(g, {"cvm_right_shift", 1, {{8}, {shift}, {1}}}, {last_entry(g)}));
}

void judge_between(DrawnGraph& g, Draw& draw) {
  ASSERT_TRUE(try_call(g, {"negative", 1, {}}, {last_result(g)}));
  g.heads.push_back(last_entry(g));
  for (const char* threads : {"1", "3"})
    judge_graph(open_backend({{"threads", threads}}).value(), g, draw);
}

// More rows than a block of pixels has, or a block of records of their columns.
TEST(Graphs, OfHighImages) {
  Seeded draw(1);
  DrawnGraph g;
  g.feeds.push_back(add_entry(g, drawn_tensor({{1, 3, 2000, 9}, 8}, draw)));
  try_call(g, {"negative", 1, {}}, {0});
  append_product(g, 64, {3, 3}, 8, draw);
  append_product(g, 64, {3, 1}, 9, draw);
  append_product(g, 64, {1, 1}, 9, draw);
  judge_between(g, draw);
}

// More weights than an item of parallel work has.
TEST(Graphs, OfManyOutputs) {
  Seeded draw(1);
  DrawnGraph g;
  g.feeds.push_back(add_entry(g, drawn_tensor({{2, 3, 4, 5}, 8}, draw)));
  try_call(g, {"negative", 1, {}}, {0});
  append_product(g, 512, {1, 1}, 5, draw);
  const uint32_t shortcut = last_entry(g);
  append_product(g, 512, {3, 3}, 12, draw);
  ASSERT_TRUE(try_call(g, {"elemwise_add", 2, {}}, {last_entry(g), shortcut}));
  ASSERT_TRUE(try_call(g, {"cvm_clip", 1, {{8}, {1}}}, {last_entry(g)}));
  append_product(g, 64, {1, 1}, 10, draw);
  judge_between(g, draw);
}

// Sums of two activations need 9 bits, which cells do not have.
TEST(Graphs, KeepSumsOfNineBits) {
  Seeded draw(1);
  DrawnGraph g;
  const Type type{{1, 4, 3, 20}, 8};
  g.feeds.push_back(add_entry(g, {type, std::vector<i32>(240, 127)}));
  const auto product = [&] {
    const uint32_t w = constant(g, {{4, 4, 1, 1}, 8}, draw);
    std::fill_n(g.entries[w].data.begin(), 16, 127);
    try_call(g, {"conv2d", 0, {{4}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {1}, {0}}}, {0, w});
    try_call(g, {"cvm_clip", 1, {{8}, {1}}}, {last_entry(g)});
  };
  uint32_t shortcut = 0;
  for (int k = 0; k < 2; ++k) {
    product();
    ASSERT_TRUE(try_call(g, {"elemwise_add", 2, {}}, {last_entry(g), shortcut}));
    shortcut = last_entry(g);
  }
  EXPECT_EQ(g.entries[shortcut].data[0], 3 * 127);
  g.heads.push_back(shortcut);
  for (const Mode& m : modes()) judge_graph(open_backend(m.options()).value(), g, draw);
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
