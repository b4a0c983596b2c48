// Graphs drawn around calls: legal, in order, with the right values, and of every operator.
#include "conformance/cases/call_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "conformance/host/channel.h"
#include "conformance/tests/drawn_graph.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

std::vector<Tensor> values(const CallGraph& g, const std::vector<int>& entries) {
  std::vector<Tensor> all;
  for (const int e : entries) all.push_back(g.entries[static_cast<std::size_t>(e)]);
  return all;
}

// Checks that the graph's calls, one by one, give the values that it states.
void expect_right(const CallGraph& g) {
  std::set<int> written;
  for (int e = 0; e < g.given; ++e) written.insert(e);
  for (const CallGraph::Node& n : g.nodes) {
    for (const int e : n.in) EXPECT_TRUE(written.contains(e)) << graph_text(g);
    const std::vector<Tensor> in = values(g, n.in);
    std::vector<Type> types;
    for (const Tensor& t : in) types.push_back(t.type);
    ASSERT_FALSE(
        check(*n.op, n.attributes(), {types.data(), static_cast<int>(types.size())}).refused())
        << graph_text(g);
    const std::vector<Tensor> right = reference::outputs(*n.op, n.attributes(), in),
                              stated = values(g, n.out);
    EXPECT_TRUE(std::equal(right.begin(), right.end(), stated.begin(), stated.end(),
        [](const Tensor& a, const Tensor& b) { return a.type == b.type && a.data == b.data; }))
        << graph_text(g);
    for (const int e : n.out) EXPECT_TRUE(written.insert(e).second) << graph_text(g);
  }
  EXPECT_EQ(written.size(), g.entries.size());
  EXPECT_GE(g.heads[0], g.given) << "the first head is a result: " << graph_text(g);
}

// The length of the longest chain of elementwise calls.
int longest_chain(const CallGraph& g) {
  std::vector<int> ending(g.entries.size());
  for (const CallGraph::Node& n : g.nodes)
    if (n.op->in_place)
      ending[static_cast<std::size_t>(n.out[0])] = 1 + ending[static_cast<std::size_t>(n.in[0])];
  return *std::max_element(ending.begin(), ending.end());
}

// Whether the graph has a chain of these calls, each of which alone reads the result of the
// previous one.
bool has_layers(const CallGraph& g, const std::vector<std::string>& ops) {
  const auto readers = [&](int e) {
    return std::count_if(g.nodes.begin(), g.nodes.end(),
        [&](const CallGraph::Node& n) { return std::count(n.in.begin(), n.in.end(), e) > 0; });
  };
  std::vector<std::size_t> layers(g.entries.size());  // of those that end with an entry
  for (const CallGraph::Node& n : g.nodes) {
    const std::size_t before =
        readers(n.in[0]) == 1 ? layers[static_cast<std::size_t>(n.in[0])] : 0;
    const std::size_t now = n.op->name == ops[before] ? before + 1 : n.op->name == ops[0] ? 1 : 0;
    if (now == ops.size()) return true;
    layers[static_cast<std::size_t>(n.out[0])] = now;
  }
  return false;
}

TEST(CallGraphs, HaveLayersOfNetworks) {
  int layered = 0;
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 40; ++seed)
      layered += has_layers(drawn_graph(*op, seed),
          {"conv2d", "cvm_right_shift", "max_pool2d", "conv2d", "cvm_clip"});
  EXPECT_GT(layered, 50);
}

// Whether an operator joins two products, each of whole groups of channels, and a third product
// reads the result.
bool has_branches(const CallGraph& g, const std::string& joining) {
  const auto maker = [&](int e) {
    return std::find_if(
        g.nodes.begin(), g.nodes.end(), [&](const CallGraph::Node& n) { return n.out[0] == e; });
  };
  const auto is_side = [&](int e) {
    const auto shift = maker(e), product = shift == g.nodes.end() ? shift : maker(shift->in[0]);
    return product != g.nodes.end() && shift->op->name == "cvm_right_shift" &&
        product->op->name == "conv2d" &&
        g.entries[static_cast<std::size_t>(e)].type.dim(1) % 4 == 0;
  };
  return std::any_of(g.nodes.begin(), g.nodes.end(), [&](const CallGraph::Node& n) {
    auto both = maker(n.in[0]);
    if (both != g.nodes.end() && both->op->name == "cvm_clip") both = maker(both->in[0]);
    return n.op->name == "conv2d" && both != g.nodes.end() && both->op->name == joining &&
        both->in.size() == 2 && is_side(both->in[0]) && is_side(both->in[1]);
  });
}

// Whether a product with constant weights reads and writes as many channels as compilers keep
// together.
bool has_wide_product(const CallGraph& g) {
  const auto is_wide = [&](int e) {
    return g.entries[static_cast<std::size_t>(e)].type.dim(1) % 64 == 0;
  };
  return std::any_of(g.nodes.begin(), g.nodes.end(), [&](const CallGraph::Node& n) {
    return n.op->name == "conv2d" && n.in[0] >= g.given && n.in[1] >= g.feeds &&
        n.in[1] < g.given && is_wide(n.in[0]) && is_wide(n.out[0]);
  });
}

TEST(CallGraphs, HaveBranchesOfNetworks) {
  int joined = 0, added = 0, multiplied = 0, wide = 0;
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 40; ++seed) {
      const CallGraph g = drawn_graph(*op, seed);
      joined += has_branches(g, "concatenate");
      added += has_branches(g, "elemwise_add");
      wide += has_wide_product(g);
      multiplied += std::any_of(g.nodes.begin(), g.nodes.end(),
          [&](const CallGraph::Node& n) { return n.op->name == "conv2d" && n.in[1] >= g.given; });
    }
  for (const int share : {joined, added, multiplied, wide}) EXPECT_GT(share, 20);
}

// The node that gives an entry, or nullptr.
const CallGraph::Node* maker_of(const CallGraph& g, int e) {
  const auto at = std::find_if(
      g.nodes.begin(), g.nodes.end(), [&](const CallGraph::Node& n) { return n.out[0] == e; });
  return at == g.nodes.end() ? nullptr : &*at;
}

TEST(CallGraphs, HaveNetworksOfLargeImages) {
  constexpr i64 kChunk = 64;  // terms that kernels of compilers take together
  int networks = 0, high = 0, deep = 0, wide = 0, shifted = 0, joined = 0, separate = 0,
      strided = 0;
  for (u64 seed = 1; seed <= 2000; ++seed) {
    const CallGraph g = drawn_graph(*find_operator("conv2d"), seed);
    if (!g.has_network) continue;
    ++networks;
    const auto type_of = [&](int e) { return g.entries[static_cast<std::size_t>(e)].type; };
    for (const CallGraph::Node& n : g.nodes) {
      const CallGraph::Node* before = maker_of(g, n.in[0]);
      const bool reads_product = before && before->op->name == "cvm_right_shift";
      joined += n.op->name == "concatenate" && reads_product;
      shifted += n.op->name == "cvm_right_shift" && before && before->op->name == "elemwise_add";
      if (n.op->name != "conv2d" || !before) continue;
      const Type x = type_of(n.in[0]), w = type_of(n.in[1]);
      high += x.dim(2) == 500 && w.dim(2) == 3;
      deep += w.dim(1) * w.dim(2) * w.dim(3) > 9 * kChunk;
      wide += w.dim(0) > 8 * kChunk && w.dim(1) > 8 * kChunk;
      separate += x.dim(1) >= kChunk && w.dim(1) == 1;
      strided += x.dim(2) > 2 * type_of(n.out[0]).dim(2) - 2 && w.dim(2) == 3;
    }
    if (networks == 1) expect_right(g);
  }
  EXPECT_GT(networks, 20);
  for (const int share : {high, wide, shifted}) EXPECT_GT(share, 0);
  for (const int share : {deep, joined, separate, strided}) EXPECT_GT(share, 3);
}

TEST(CallGraphs, HaveChainsOfLargeMatrices) {
  constexpr i64 kChunk = 64, kRows = 16;  // units and rows that kernels of compilers take together
  int networks = 0, chained = 0, partial = 0;
  for (u64 seed = 1; seed <= 2000; ++seed) {
    const CallGraph g = drawn_graph(*find_operator("dense"), seed);
    if (!g.has_network) continue;
    ++networks;
    const auto type_of = [&](int e) { return g.entries[static_cast<std::size_t>(e)].type; };
    for (const CallGraph::Node& n : g.nodes) {
      const CallGraph::Node* before = maker_of(g, n.in[0]);
      if (n.op->name != "dense" || !before || before->op->name != "cvm_right_shift") continue;
      const Type x = type_of(n.in[0]), y = type_of(n.out[0]);
      const bool is_whole = x.dim(1) % kChunk == 0 && y.dim(1) % kChunk == 0;
      chained += is_whole && x.dim(0) >= kRows && x.dim(0) % kRows != 0;
      partial += !is_whole;
    }
    if (networks == 1) expect_right(g);
  }
  EXPECT_GT(networks, 20);
  for (const int share : {chained, partial}) EXPECT_GT(share, 3);
}

TEST(CallGraphs, ComputeTheCallAmongOthers) {
  std::set<std::string> others;
  std::map<std::size_t, int> by_heads;
  int constants = 0, made = 0, long_chains = 0;
  int fed = 0, constant = 0, repeated = 0;  // graphs with such a head
  std::size_t most = 0;
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 40; ++seed) {
      const CallGraph g = drawn_graph(*op, seed);
      expect_right(g);
      bool has = false;
      for (const CallGraph::Node& n : g.nodes) {
        has = has || n.op == op;
        others.insert(std::string(n.op->name));
      }
      EXPECT_TRUE(has) << op->name;
      ++by_heads[g.heads.size()];
      const std::set<int> heads(g.heads.begin(), g.heads.end());
      fed += *heads.begin() < g.feeds;
      constant += *heads.lower_bound(g.feeds) < g.given;
      repeated += heads.size() < g.heads.size();
      constants += g.given > g.feeds;
      made += g.nodes[0].op != op;
      long_chains += longest_chain(g) >= 4;
      most = std::max(most, g.nodes.size());
    }
  EXPECT_EQ(others.size(), operators().size());
  for (const int share : {by_heads[1], by_heads[2], constants, made}) EXPECT_GT(share, 300);
  EXPECT_GT(by_heads[3], 100);
  for (int k = 4; k <= kMaxHeads; ++k) EXPECT_GT(by_heads[static_cast<std::size_t>(k)], 0) << k;
  EXPECT_EQ(by_heads.size(), std::size_t{kMaxHeads}) << "a question has room for no more";
  EXPECT_GT(long_chains, 100);
  for (const int share : {fed, constant, repeated}) EXPECT_GT(share, 10);
  EXPECT_GE(most, 40u);
  EXPECT_LE(most, 61u) << "with layers, branches and wide products";
}

// Shrinks a graph as long as a smaller one is wanted, always to the first such one.
template <class F> CallGraph shrunk_while(const F& wanted, CallGraph g) {
  for (;;) {
    const std::vector<CallGraph> parts = smaller_graphs(g);
    const auto smaller = std::find_if(parts.begin(), parts.end(), wanted);
    if (smaller == parts.end()) return g;
    g = CallGraph(*smaller);
  }
}

TEST(CallGraphs, ShrinkToEachOfTheirCalls) {
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 10; ++seed) {
      const CallGraph whole = drawn_graph(*op, seed);
      for (const CallGraph& part : smaller_graphs(whole)) {
        expect_right(part);
        EXPECT_LT(part.nodes.size() + part.heads.size(), whole.nodes.size() + whole.heads.size())
            << graph_text(whole) << " | " << graph_text(part);
      }
      for (const CallGraph::Node& n : whole.nodes) {
        const auto calls = [&](const CallGraph& part) {
          return std::any_of(part.nodes.begin(), part.nodes.end(),
              [&](const CallGraph::Node& its) { return its.op == n.op; });
        };
        EXPECT_EQ(shrunk_while(calls, whole).nodes.size(), 1u)
            << n.op->name << " of " << graph_text(whole);
      }
    }
}

TEST(CallGraphs, ShrinkToAsManyHeadsAsAreNeeded) {
  constexpr std::size_t kNeeded = 3;
  const auto needed = [](const CallGraph& part) { return part.heads.size() >= kNeeded; };
  int shrunk = 0;
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 40; ++seed) {
      const CallGraph whole = drawn_graph(*op, seed);
      if (whole.heads.size() <= kNeeded) continue;
      ++shrunk;
      const CallGraph part = shrunk_while(needed, whole);
      EXPECT_EQ(part.heads.size(), kNeeded) << graph_text(whole);
      EXPECT_LE(part.nodes.size(), kNeeded) << graph_text(part) << " of " << graph_text(whole);
      expect_right(part);
    }
  EXPECT_GT(shrunk, 30);
}

// The call that is left out gives a head, and reads another.
TEST(CallGraphs, LoseNoOtherHeadWithACall) {
  const Type type{{2}, 8};
  CallGraph g{
      {}, {{type, {-3, 4}}, {type, {3, -4}}, {type, {3, 0}}, {type, {3, 0}}}, 1, 1, {3, 2, 1, 1}};
  int e = 0;
  for (const char* op : {"negative", "relu", "abs"}) {
    g.nodes.push_back({find_operator(op), {}, {e}, {e + 1}});
    ++e;
  }
  expect_right(g);
  std::set<std::string> texts;
  for (const CallGraph& part : smaller_graphs(g)) texts.insert(graph_text(part));
  EXPECT_TRUE(texts.contains("e1 = negative(e0); e2 = abs(e1); heads e2, e1, e1"));
  EXPECT_TRUE(texts.contains("e1 = negative(e0); e2 = relu(e1); heads e2, e1, e1"));
}

TEST(CallGraphs, ShrinkToTwoCallsWithOneBetweenThem) {
  const Type type{{2}, 8};
  CallGraph g{{}, {{type, {-3, 4}}, {type, {3, -4}}, {type, {3, 0}}, {type, {3, 0}}}, 1, 1, {3}};
  int e = 0;
  for (const char* op : {"negative", "relu", "abs"}) {
    g.nodes.push_back({find_operator(op), {}, {e}, {e + 1}});
    ++e;
  }
  expect_right(g);
  const std::vector<CallGraph> parts = smaller_graphs(g);
  const auto two = std::find_if(parts.begin(), parts.end(), [](const CallGraph& part) {
    return part.nodes.size() == 2 && part.nodes[0].op->name == "negative" &&
        part.nodes[1].op->name == "abs";
  });
  ASSERT_NE(two, parts.end());
  EXPECT_EQ(two->entries[2].data, (std::vector<i32>{3, 4}));
  EXPECT_EQ(two->heads, std::vector{2});
}

TEST(CallGraphs, OfManyInputsFitAQuestionAndSoDoSmallerOnes) {
  const OpInfo& op = *find_operator("concatenate");
  Case c{.op = &op, .attrs = read_attributes(op, {{"axis", "0"}}).values};
  c.in.assign(kMaxInputs, {{1}, 8});
  std::size_t most_calls = 0, smaller = 0;
  for (c.seed = 1; c.seed <= 60; ++c.seed) {
    const std::vector<Tensor> in = inputs_of(c);
    const CallGraph g = graph_around(
        c, in, reference::outputs(op, c.attributes(), in), [](const Case&) { return true; });
    expect_right(g);
    EXPECT_LE(g.given, kMaxInputs);
    most_calls = std::max(most_calls, g.nodes.size());
    for (const CallGraph& part : smaller_graphs(g)) {
      EXPECT_LE(part.given + std::ssize(part.heads), kMaxSlots);
      ++smaller;
    }
  }
  EXPECT_GT(most_calls, 10U);
  EXPECT_GT(smaller, 100U);
}

TEST(CallGraphs, ThatFitNoQuestionAreNotAmongTheSmallerOnes) {
  CallGraph g{{}, std::vector<Tensor>(kMaxInputs, {{{1}, 8}, {1}}), kMaxInputs, kMaxInputs, {}};
  std::vector<int> all(kMaxInputs);
  std::iota(all.begin(), all.end(), 0);
  const auto call = [&](const char* op,
                        const std::vector<std::pair<std::string, std::string>>& attrs,
                        const std::vector<int>& in) {
    const std::vector<Attr> values = read_attributes(*find_operator(op), attrs).values;
    g.nodes.push_back({find_operator(op), values, in, {static_cast<int>(g.entries.size())}});
    const CallGraph::Node& n = g.nodes.back();
    g.entries.push_back(
        reference::outputs(*n.op, n.attributes(), lockstep::judge::values(g, in))[0]);
    return n.out[0];
  };
  // As a feed, this result would come beside all others.
  const int negative = call("negative", {}, {0});
  g.heads = {call("concatenate", {{"axis", "0"}}, all), call("relu", {}, {negative})};
  for (int e = 0; std::ssize(g.heads) < kMaxHeads; ++e) g.heads.push_back(e);
  expect_right(g);
  EXPECT_TRUE(fits_a_question(g));
  const std::vector<CallGraph> parts = smaller_graphs(g);
  EXPECT_GT(parts.size(), 10U);
  for (const CallGraph& part : parts) EXPECT_TRUE(fits_a_question(part)) << part.given;
}

TEST(CallGraphs, HaveOnlyClaimedCallsBesideTheirOwn) {
  const OpInfo& op = *find_operator("relu");
  Case c{.op = &op, .in = {{{2, 3}, 8}}, .seed = 5};
  const std::vector<Tensor> in = inputs_of(c);
  const auto out = reference::outputs(op, c.attributes(), in);
  const CallGraph g = graph_around(c, in, out, [](const Case&) { return false; });
  EXPECT_EQ(graph_text(g), "e1 = relu(e0); head e1");
}

}  // namespace
}  // namespace lockstep::judge
