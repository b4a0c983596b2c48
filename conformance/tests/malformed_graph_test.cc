// Mistakes in graphs, as the checks of backend.hpp see them: each has exactly the label that it
// names.
#include "conformance/cases/malformed_graph.h"

#include <gtest/gtest.h>

#include <numeric>

#include "backends/backend.hpp"
#include "conformance/tests/drawn_graph.h"

namespace lockstep::judge {
namespace {

// The label with which backend.hpp refuses a graph; "" if it does not.
std::string refused_with(const CallGraph& g) {
  const auto numbers = [](const std::vector<int>& all) {
    return std::vector<uint32_t>(all.begin(), all.end());
  };
  std::vector<std::vector<uint32_t>> in, out;
  std::vector<ls_node> nodes;
  for (const CallGraph::Node& n : g.nodes) {
    in.push_back(numbers(n.in));
    out.push_back(numbers(n.out));
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    ls_node& n = nodes.emplace_back();
    n.op = "";
    n.in = in[k].data();
    n.n_in = static_cast<uint32_t>(in[k].size());
    n.out = out[k].data();
    n.n_out = static_cast<uint32_t>(out[k].size());
  }
  std::vector<int> feeds(static_cast<std::size_t>(g.feeds));
  std::iota(feeds.begin(), feeds.end(), 0);
  const std::vector<uint32_t> fed = numbers(feeds), heads = numbers(g.heads);
  const std::vector<ls_tensor> entries(g.entries.size(), ls_tensor{});
  try {
    backend::check_graph({nodes, entries, fed, heads});
    return "";
  } catch (const backend::LogicError& e) {
    return e.label;
  }
}

TEST(MalformedGraphs, HaveTheLabelOfTheirMistake) {
  int made[kGraphMistakes.size()] = {}, graphs = 0;
  for (const OpInfo* op : operators())
    for (u64 seed = 1; seed <= 10; ++seed, ++graphs)
      for (std::size_t k = 0; k < kGraphMistakes.size(); ++k) {
        const std::optional<CallGraph> g = malformed(drawn_graph(*op, seed), kGraphMistakes[k]);
        if (!g) continue;
        ++made[k];
        EXPECT_EQ(refused_with(*g), kGraphMistakes[k].label)
            << kGraphMistakes[k].what << ": " << graph_text(*g);
      }
  for (const int n : made) EXPECT_GT(n, graphs / 2);
}

TEST(MalformedGraphs, OfOneIllegalCallAreWellFormed) {
  Case c{.op = find_operator("broadcast_add"), .in = {{{2}, 8}, {{3}, 8}}};
  const CallGraph g = graph_of_call(c);
  EXPECT_EQ(refused_with(g), "");
  EXPECT_EQ(graph_text(g), "e2 = broadcast_add(e0, e1); head e2");
  EXPECT_EQ(g.entries[2].type, (Type{{2}, 32}));
  EXPECT_EQ(graph_of_call({.op = find_operator("get_valid_counts")}).heads.size(), 2u);
}

}  // namespace
}  // namespace lockstep::judge
