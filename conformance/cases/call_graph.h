/// @file
/// Graphs of calls, drawn around one call: what a backend that compiles graphs is judged by.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Legal calls that read each other's results, in an order in which they can run.
struct CallGraph {
  struct Node {
    const OpInfo* op = nullptr;
    std::vector<Attr> attrs;
    std::vector<int> in = {}, out = {};  ///< numbers of entries
    Attributes attributes() const { return {attrs.data(), static_cast<int>(attrs.size())}; }
  };
  std::vector<Node> nodes;
  std::vector<Tensor> entries;  ///< with their right values: feeds, constants, results
  int feeds = 0;                ///< entries that each run brings
  int given = 0;                ///< feeds and constants
  std::vector<int> heads;       ///< entries that leave the graph
  bool has_network = false;     ///< layers beyond the blocks of kernels
};

/// A graph in which the case's call computes its outputs from its values, among other calls: one
/// may make its first input, and others read its results. Its shape depends on the case's seed and
/// operator only, so that smaller cases of them have similar graphs. Few of those around conv2d
/// and dense have a network.
/// @param claimed whether a call may be one of the others
CallGraph graph_around(const Case& c, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
    const std::function<bool(const Case&)>& claimed);

/// A graph whose entries have new numbers: these feeds, these constants, the results of its nodes.
/// Others are dropped.
CallGraph numbered(
    const CallGraph& old, const std::vector<int>& feeds, const std::vector<int>& constants);

/// Parts of a graph with fewer calls or heads, the smallest first: what one result or head needs,
/// what is left where the results of a call are given and, but of networks, where a call's input
/// takes the place of its result.
std::vector<CallGraph> smaller_graphs(const CallGraph& g);

/// Its calls in a line, as `e1 = negative(e0); e2 = sum/axis=0(e1); heads e1, e2`.
std::string graph_text(const CallGraph& g);

}  // namespace lockstep::judge
