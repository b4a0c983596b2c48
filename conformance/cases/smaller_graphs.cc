// Makes a graph smaller.
#include <algorithm>
#include <optional>
#include <set>

#include "conformance/cases/call_graph.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

// The part of a graph that these heads need, if the results `fed` are given as feeds.
CallGraph part_of(const CallGraph& g, const std::vector<int>& heads, const std::vector<int>& fed) {
  std::vector<bool> needed(g.entries.size());
  for (const int e : heads) needed[static_cast<std::size_t>(e)] = true;
  const auto any = [&](const std::vector<int>& entries) {
    return std::any_of(
        entries.begin(), entries.end(), [&](int e) { return needed[static_cast<std::size_t>(e)]; });
  };
  CallGraph part{{}, g.entries, 0, 0, heads, g.has_network};
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    const CallGraph::Node& n = g.nodes[k];
    if (n.out == fed || !any(n.out)) continue;
    for (const int e : n.in) needed[static_cast<std::size_t>(e)] = true;
    part.nodes.insert(part.nodes.begin(), n);
  }
  std::vector<int> feeds, constants;
  for (int e = 0; e < g.given; ++e)
    if (needed[static_cast<std::size_t>(e)]) (e < g.feeds ? feeds : constants).push_back(e);
  for (const int e : fed)
    if (any({e})) feeds.push_back(e);
  return numbered(part, feeds, constants);
}

// The graph without call k: an input of the same type takes the place of its only result, and later
// calls are computed anew. Nothing if no input has that type, or a head would become an input.
std::optional<CallGraph> without(const CallGraph& g, std::size_t k) {
  const auto entry = [](auto& graph, int e) -> auto& {
    return graph.entries[static_cast<std::size_t>(e)];
  };
  const CallGraph::Node& n = g.nodes[k];
  const auto same = std::find_if(
      n.in.begin(), n.in.end(), [&](int e) { return entry(g, e).type == entry(g, n.out[0]).type; });
  const bool is_head = std::find(g.heads.begin(), g.heads.end(), n.out[0]) != g.heads.end();
  if (n.out.size() != 1 || same == n.in.end() || (is_head && *same < g.given)) return std::nullopt;
  CallGraph rest = g;
  rest.nodes.erase(rest.nodes.begin() + static_cast<std::ptrdiff_t>(k));
  if (std::find(g.heads.begin(), g.heads.end(), *same) != g.heads.end())
    std::erase(rest.heads, n.out[0]);
  else
    std::replace(rest.heads.begin(), rest.heads.end(), n.out[0], *same);
  for (CallGraph::Node& after : rest.nodes) {
    std::replace(after.in.begin(), after.in.end(), n.out[0], *same);
    std::vector<Tensor> in;
    for (const int e : after.in) in.push_back(entry(rest, e));
    std::vector<Tensor> out = reference::outputs(*after.op, after.attributes(), in);
    for (std::size_t o = 0; o < out.size(); ++o) entry(rest, after.out[o]) = std::move(out[o]);
  }
  return part_of(rest, rest.heads, {});
}

}  // namespace

std::vector<CallGraph> calls_alone(const CallGraph& g) {
  std::vector<CallGraph> all;
  for (const CallGraph::Node& n : g.nodes) {
    std::vector<int> feeds, constants;
    for (const int e : std::set<int>(n.in.begin(), n.in.end()))
      (e < g.feeds || e >= g.given ? feeds : constants).push_back(e);
    CallGraph call = g;
    call.nodes = {n};
    call.heads = n.out;
    all.push_back(numbered(call, feeds, constants));
  }
  return all;
}

std::vector<CallGraph> smaller_graphs(const CallGraph& g) {
  std::vector<CallGraph> all;
  for (std::size_t k = 0; g.heads.size() > 1 && k < g.heads.size(); ++k) {
    all.push_back(part_of(g, {g.heads[k]}, {}));
    std::vector<int> others = g.heads;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    if (others.size() > 1) all.push_back(part_of(g, others, {}));
  }
  for (const CallGraph::Node& n : g.nodes)
    for (const int e : n.out)
      if (g.heads != std::vector{e}) all.push_back(part_of(g, {e}, {}));
  // Networks take long to compute.
  for (std::size_t k = 0; k < g.nodes.size() && !g.has_network; ++k)
    if (std::optional<CallGraph> part = without(g, k)) all.push_back(std::move(*part));
  const auto leaves = [&](int e) {
    return std::find(g.heads.begin(), g.heads.end(), e) != g.heads.end();
  };
  for (const CallGraph::Node& n : g.nodes)
    if (std::none_of(n.out.begin(), n.out.end(), leaves)) all.push_back(part_of(g, g.heads, n.out));
  std::erase_if(all, [&](const CallGraph& part) {
    return part.heads[0] < part.given || !fits_a_question(part) ||
        (part.nodes.size() == g.nodes.size() && part.heads.size() == g.heads.size());
  });
  std::stable_sort(all.begin(), all.end(),
      [](const CallGraph& a, const CallGraph& b) { return a.nodes.size() < b.nodes.size(); });
  return all;
}

}  // namespace lockstep::judge
