#include "conformance/cases/malformed_graph.h"

#include <algorithm>

namespace lockstep::judge {
namespace {

constexpr int kFar = 1 << 30;  // beyond any entry

// Adds a copy of an entry, which no call writes. @return its number
int unwritten(CallGraph& g, int like) {
  g.entries.push_back(Tensor(g.entries[static_cast<std::size_t>(like)]));
  return static_cast<int>(g.entries.size()) - 1;
}

void repeat_last_call(CallGraph& g) { g.nodes.push_back(CallGraph::Node(g.nodes.back())); }

}  // namespace

const std::array<GraphMistake, 7> kGraphMistakes{{
    {"graph.entry", "a call reads an entry just past the last",
        [](CallGraph& g) {
          g.nodes.back().in[0] = static_cast<int>(g.entries.size());
          return true;
        }},
    {"graph.entry", "a call writes entries far past the last",
        [](CallGraph& g) {
          repeat_last_call(g);
          std::fill(g.nodes.back().out.begin(), g.nodes.back().out.end(), kFar);
          return true;
        }},
    {"graph.entry", "a head is an entry just past the last",
        [](CallGraph& g) {
          g.heads.back() = static_cast<int>(g.entries.size());
          return true;
        }},
    {"graph.order", "a call reads an entry that nothing writes",
        [](CallGraph& g) {
          int& e = g.nodes.front().in[0];
          e = unwritten(g, e);
          return true;
        }},
    {"graph.order", "a call reads the result of a later call",
        [](CallGraph& g) {
          const auto reads_result = [&](const CallGraph::Node& n) {
            return std::any_of(n.in.begin(), n.in.end(), [&](int e) { return e >= g.given; });
          };
          const auto reader = std::find_if(g.nodes.begin(), g.nodes.end(), reads_result);
          if (reader == g.nodes.end()) return false;
          std::rotate(g.nodes.begin(), reader, reader + 1);
          return true;
        }},
    {"graph.order", "a head is an entry that nothing writes",
        [](CallGraph& g) {
          int& e = g.heads.back();
          e = unwritten(g, e);
          return true;
        }},
    {"graph.written", "two calls write the same entries",
        [](CallGraph& g) {
          repeat_last_call(g);
          return true;
        }},
}};

std::optional<CallGraph> malformed(CallGraph legal, const GraphMistake& mistake) {
  legal.feeds = legal.given;
  if (!mistake.make(legal)) return std::nullopt;
  return legal;
}

CallGraph graph_of_call(const Case& c) {
  CallGraph g;
  CallGraph::Node n{.op = c.op, .attrs = c.attrs};
  for (const Type& t : c.in) {
    n.in.push_back(static_cast<int>(g.entries.size()));
    g.entries.push_back({t, {}});
  }
  g.feeds = g.given = static_cast<int>(g.entries.size());
  for (int k = 0; k < c.op->outputs.size(); ++k) {
    n.out.push_back(static_cast<int>(g.entries.size()));
    g.entries.push_back({guessed_output(c), {}});
  }
  g.heads = n.out;
  g.nodes.push_back(std::move(n));
  return g;
}

}  // namespace lockstep::judge
