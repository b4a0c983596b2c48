/// @file
/// Graphs of calls, drawn around one call: what a backend that compiles graphs is judged by.
#pragma once
#include <functional>
#include <optional>
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
  int feeds = 0;                ///< entries that each run provides
  int given = 0;                ///< feeds and constants
  std::vector<int> heads;       ///< entries that leave the graph
  bool has_network = false;     ///< it has layers larger than the blocks of kernels
  bool int8_constants = false;  ///< constants of at most 8 bits are handed over as int8
  bool one_by_one = false;      ///< its calls are prepared and run one by one, not compiled
};

/// A graph of the case's call, which computes its outputs from its values, and other calls: one may
/// compute its first input, and others read its results. The shape of the graph depends on the
/// case's seed and operator only, so that smaller cases with the same ones have similar graphs. Few
/// graphs around conv2d and dense have a network.
/// @param claimed says of a call whether it may be one of the others
CallGraph graph_around(const Case& c, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
    const std::function<bool(const Case&)>& claimed);

/// The graph with its entries numbered anew: these feeds, then these constants, then the results of
/// its nodes. Other entries are dropped.
CallGraph numbered(
    const CallGraph& old, const std::vector<int>& feeds, const std::vector<int>& constants);

/// Whether one question has room for the tensors that the graph is given and those that leave it.
bool fits_a_question(const CallGraph& g);

/// The tensor that head k is, too: the number of a feed or constant, or `given` and the place of an
/// earlier head. Nothing for any other head.
std::optional<std::size_t> same_tensor(const CallGraph& g, std::size_t k);

/// Drops the heads that are another tensor, too, which only a compiled graph writes.
void drop_copies(CallGraph& g);

/// Smaller graphs with fewer calls or heads, the smallest first: only what one result or head
/// needs, or all heads but one; the results of a call given as feeds; and, except for networks, a
/// call left out, so that one of its inputs takes the place of its result. The first head of each
/// is a result, and each fits a question.
std::vector<CallGraph> smaller_graphs(const CallGraph& g);

/// A graph of each call alone: what it reads is given.
std::vector<CallGraph> calls_alone(const CallGraph& g);

/// The calls of a graph in one line, as `e1 = negative(e0); e2 = sum/axis=0(e1); heads e1, e2`, and
/// the constants that are handed over as int8, as `; int8 e0`.
std::string graph_text(const CallGraph& g);

}  // namespace lockstep::judge
