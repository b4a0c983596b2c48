/// @file
/// Drawn graphs: chains and branches of any operators, and networks.
#pragma once
#include "backends/cpu/tests/subject.h"

namespace lockstep::cpu {

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

inline uint32_t add_entry(DrawnGraph& g, reference::Tensor t) {
  g.entries.push_back(std::move(t));
  return static_cast<uint32_t>(g.entries.size()) - 1;
}

inline reference::Tensor drawn_tensor(const Type& type, Draw& draw) {
  reference::Tensor t{type, std::vector<i32>(static_cast<std::size_t>(volume(type.shape)))};
  const i64 most = max_of(type.precision);
  for (i32& v : t.data) v = static_cast<i32>(draw(-most, most));
  return t;
}

/// The integers of the attributes of each operator that a graph can repeat.
struct Choice {
  const char* op;
  int inputs;
  std::vector<Tuple> ints;
};

inline std::vector<Choice> choices(Draw& draw) {
  const i64 bits = draw(4, 12), shift = draw(1, 5);
  return {{"relu", 1, {}}, {"abs", 1, {}}, {"negative", 1, {}}, {"cvm_clip", 1, {{bits}, {1}}},
      {"cvm_right_shift", 1, {{bits}, {shift}, {1}}}, {"broadcast_add", 2, {}},
      {"broadcast_sub", 2, {}}, {"broadcast_mul", 2, {}}, {"broadcast_max", 2, {}},
      {"broadcast_greater", 2, {}}, {"broadcast_div", 2, {}}, {"where", 3, {}},
      {"elemwise_add", 2, {}}, {"transpose", 1, {{0, 1, 3, 2}}}, {"cvm_precision", 1, {}},
      {"max", 1, {{3}, {1}, {0}}}};
}

/// Appends a node if the call is legal. @return whether it is
inline bool try_call(DrawnGraph& g, const Choice& c, const std::vector<uint32_t>& inputs) {
  DrawnGraph::Node n{find_operator(c.op), {}, inputs, 0};
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
  for (const uint32_t e : n.in) {
    in.push_back(g.entries[e]);
    types.push_back(in.back().type);
  }
  const Attributes attrs{n.attrs.data(), static_cast<int>(n.attrs.size())};
  if (check(*n.op, attrs, {types.data(), static_cast<int>(types.size())}).refused()) return false;
  n.out = add_entry(g, reference::outputs(*n.op, attrs, in)[0]);
  g.nodes.push_back(std::move(n));
  return true;
}

inline uint32_t last_entry(const DrawnGraph& g) {
  return static_cast<uint32_t>(g.entries.size()) - 1;
}

inline uint32_t last_result(const DrawnGraph& g) {
  return g.nodes.empty() ? 0 : g.nodes.back().out;
}

/// Appends a node whose inputs are drawn from the entries, preferably recent ones, if the call is
/// legal.
inline void try_node(DrawnGraph& g, Draw& draw) {
  const std::vector<Choice> all = choices(draw);
  const Choice& c = all[static_cast<std::size_t>(draw(0, static_cast<i64>(all.size()) - 1))];
  std::vector<uint32_t> in;
  for (int k = 0; k < c.inputs; ++k)
    in.push_back(static_cast<uint32_t>(draw(0, 2) > 0 ? last_entry(g) : draw(0, last_entry(g))));
  try_call(g, c, in);
}

inline DrawnGraph drawn_graph(Draw& draw) {
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

inline uint32_t constant(DrawnGraph& g, const Type& type, Draw& draw) {
  g.constants.push_back(add_entry(g, drawn_tensor(type, draw)));
  return g.constants.back();
}

/// An entry that a layer can read, the last one, or a recent one of this shape before `end`;
// or the first one.
inline uint32_t drawn_activation(const DrawnGraph& g, Draw& draw, const Shape* shape = nullptr,
    uint32_t end = UINT32_MAX, i64 most = 8) {
  std::vector<uint32_t> all = g.feeds;
  for (const DrawnGraph::Node& n : g.nodes) all.push_back(n.out);
  std::erase_if(all, [&](uint32_t e) {
    const Type& t = g.entries[e].type;
    return e >= end || t.rank() != 4 || t.precision > most || (shape && t.shape != *shape);
  });
  if (all.empty()) return 0;
  const i64 back = draw.coin() ? 0 : draw(0, min(3, i64(all.size()) - 1));
  return all[all.size() - 1 - static_cast<std::size_t>(back)];
}

/// Appends a convolution: pointwise, depthwise, grouped or any other, often not alike on both axes.
inline bool try_conv2d(DrawnGraph& g, Draw& draw) {
  const uint32_t x = drawn_activation(g, draw);
  const i64 inputs = g.entries[x].type.dim(1), kind = draw(0, 5);
  const i64 groups = kind == 4 ? inputs : kind == 5 && inputs % 2 == 0 ? 2 : 1;
  const bool keeps_shape = groups <= 2 && draw(0, 2) > 0;
  const i64 channels = keeps_shape ? inputs
      : groups > 2                 ? groups * (draw(0, 3) == 0 ? 2 : 1)
      : groups == 2                ? 2 * draw(1, 9)
      : draw.coin()                ? 4 * draw(1, 8)
                                   : draw(1, 34);
  const bool has_bias = draw.coin(), is_row = draw(0, 3) == 0;
  const Tuple kernel = kind < 3 ? Tuple{1, 1} : is_row ? Tuple{1, 3} : Tuple{3, 3};
  const auto on_axes = [&](const auto& one) { return Tuple{one(0), one(1)}; };
  const Tuple stride = on_axes([&](int) { return !keeps_shape && draw(0, 2) == 0 ? 2 : 1; });
  const Tuple padding =
      on_axes([&](int d) { return keeps_shape ? kernel[d] / 2 : draw(0, kernel[d] / 2); });
  const Tuple dilation = on_axes([&](int) { return !keeps_shape && draw(0, 3) == 0 ? 2 : 1; });
  std::vector<uint32_t> in = {
      x, constant(g, {{channels, inputs / groups, kernel[0], kernel[1]}, 8}, draw)};
  if (has_bias) in.push_back(constant(g, {{channels}, 14}, draw));
  return try_call(
      g, {"conv2d", 0, {{channels}, kernel, stride, padding, dilation, {groups}, {has_bias}}}, in);
}

/// Appends a pooling of any windows.
inline void try_pooling(DrawnGraph& g, uint32_t x, Draw& draw) {
  const auto pair = [&](i64 least, i64 most) {
    return Tuple{draw(least, most), draw(least, most)};
  };
  try_call(g, {"max_pool2d", 1, {pair(1, 4), pair(1, 3), pair(0, 1), {draw(0, 1)}}}, {x});
}

/// Appends products of one activation and joins their results; any result may be joined twice.
inline void try_branches(DrawnGraph& g, Draw& draw) {
  const uint32_t x = drawn_activation(g, draw);
  const i64 inputs = g.entries[x].type.dim(1);
  std::vector<uint32_t> in;
  for (i64 k = draw(2, 3); k > 0; --k) {
    const i64 channels = draw(0, 3) == 0 ? draw(1, 9) : 4 * draw(1, 8),
              kernel = draw.coin() ? 1 : 3;
    const uint32_t w = constant(g, {{channels, inputs, kernel, kernel}, 8}, draw);
    const Tuple around{kernel / 2, kernel / 2};
    if (!try_call(g,
            {"conv2d", 0, {{channels}, {kernel, kernel}, {1, 1}, around, {1, 1}, {1}, {0}}},
            {x, w}))
      return;
    try_call(g, {"cvm_right_shift", 1, {{8}, {draw(7, 12)}, {1}}}, {last_entry(g)});
    in.push_back(last_entry(g));
  }
  if (draw(0, 4) == 0) in.push_back(drawn_activation(g, draw));
  try_call(g, {"concatenate", 0, {}}, in);
}

/// Appends a product, the shift of its sums to 8 bits, an activation and a shortcut, or a part
// of these; or a pooling, branches or any other node.
inline void try_layer(DrawnGraph& g, Draw& draw) {
  const auto then = [&](const char* op, const std::vector<Tuple>& ints = {}) {
    return try_call(g, {op, 1, ints}, {last_entry(g)});
  };
  const uint32_t end = last_entry(g) + 1;
  const i64 kind = draw(0, 11);
  if (kind == 0) return try_node(g, draw);
  if (kind == 1) return try_pooling(g, drawn_activation(g, draw), draw);
  if (kind == 2) return try_branches(g, draw);
  if (kind == 3) {
    if (!try_call(g, {"flatten", 1, {}}, {drawn_activation(g, draw)})) return;
    const uint32_t x = last_entry(g);
    const uint32_t w = constant(g, {{draw(1, 20), g.entries[x].type.dim(1)}, 8}, draw);
    if (!try_call(g, {"dense", 2, {{g.entries[w].type.dim(0)}, {0}}}, {x, w})) return;
  } else if (!try_conv2d(g, draw)) {
    return;
  }
  if (draw(0, 5) == 0) then("relu");
  if (draw(0, 3) == 0) then("cvm_clip", {{draw(6, 16)}, {1}});
  if (draw(0, 5) > 0) then("cvm_right_shift", {{8}, {draw(5, 12)}, {1}});
  if (draw.coin()) then("cvm_clip", {{draw(5, 8)}, {1}});
  if (draw.coin()) then("relu");
  if (draw.coin()) {
    const uint32_t sum = last_entry(g);
    const uint32_t x = drawn_activation(g, draw, &g.entries[sum].type.shape, end, draw(8, 9));
    const bool is_first = draw.coin();
    if (try_call(g, {draw(0, 3) == 0 ? "elemwise_sub" : "elemwise_add", 2, {}},
            {is_first ? sum : x, is_first ? x : sum})) {
      if (draw.coin()) then("cvm_right_shift", {{8}, {1}, {1}});
      if (draw(0, 3) > 0) then("cvm_clip", {{8}, {1}});
      if (draw.coin()) then("relu");
    }
  }
}

inline DrawnGraph drawn_network(Draw& draw) {
  DrawnGraph g;
  const Shape shape{draw(1, 2), draw(0, 2) == 0 ? 3 : draw(1, 20), draw(1, 12),
      draw(0, 3) == 0 ? draw(20, 40) : draw(1, 12)};
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  for (i64 k = draw(1, 7); k > 0; --k) try_layer(g, draw);
  g.heads.push_back(last_result(g));
  for (i64 k = draw(0, 3) == 0 ? draw(1, 2) : 0; k > 0; --k)
    g.heads.push_back(static_cast<uint32_t>(draw(0, last_entry(g))));
  return g;
}

/// Appends a product whose outputs are a multiple of 64 channels of 8 bits, and often a shortcut.
inline void try_wide_layer(DrawnGraph& g, Draw& draw) {
  const uint32_t x = last_result(g);
  const i64 inputs = g.entries[x].type.dim(1),
            channels = draw(0, 5) > 0 ? 64 * draw(1, 2) : draw(1, 70);
  const bool is_row = draw(0, 3) == 0, keeps_shape = draw(0, 2) > 0;
  const auto drawn = [&](i64 most) {
    return keeps_shape ? Tuple{1, 1} : Tuple{draw(1, most), draw(1, most)};
  };
  const Tuple kernel = draw(0, 7) == 0 ? Tuple{1, 35}
      : draw.coin()                    ? Tuple{1, 1}
                                       : Tuple{3, is_row ? 1 : 3};
  const Tuple padding = keeps_shape ? Tuple{kernel[0] / 2, kernel[1] / 2}
      : draw(0, 3) == 0             ? Tuple{draw(0, 3), draw(0, 20)}
                                    : Tuple{draw(0, kernel[0] / 2), draw(0, kernel[1] / 2)};
  const Tuple stride = drawn(3), dilation = drawn(2);
  const bool has_bias = draw.coin();
  std::vector<uint32_t> in = {x, constant(g, {{channels, inputs, kernel[0], kernel[1]}, 8}, draw)};
  if (has_bias) in.push_back(constant(g, {{channels}, 14}, draw));
  if (!try_call(
          g, {"conv2d", 0, {{channels}, kernel, stride, padding, dilation, {1}, {has_bias}}}, in))
    return;
  if (draw(0, 5) > 0)
    try_call(
        g, {"cvm_right_shift", 1, {{draw(0, 5) > 0 ? 8 : 12}, {draw(5, 9)}, {1}}}, {last_entry(g)});
  if (draw(0, 2) == 0) try_call(g, {"relu", 1, {}}, {last_entry(g)});
  if (keeps_shape && draw(0, 3) > 0 && try_call(g, {"elemwise_add", 2, {}}, {last_entry(g), x}))
    draw.coin() ? try_call(g, {"cvm_clip", 1, {{draw(6, 8)}, {1}}}, {last_entry(g)})
                : try_call(g, {"cvm_right_shift", 1, {{8}, {1}, {1}}}, {last_entry(g)});
  if (draw(0, 3) == 0) try_pooling(g, last_result(g), draw);
}

inline DrawnGraph drawn_wide_network(Draw& draw) {
  DrawnGraph g;
  const Shape shape{draw(1, 2), draw(1, 3), draw(3, 12), draw(3, 20)};
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  // Feeds and heads have layouts of their own; what lies between is compact.
  const bool is_inside = draw(0, 3) > 0;
  if (is_inside) try_call(g, {"negative", 1, {}}, {0});
  for (i64 k = draw(2, 5); k > 0; --k) try_wide_layer(g, draw);
  if (is_inside) try_call(g, {"negative", 1, {}}, {last_result(g)});
  g.heads.push_back(last_result(g));
  return g;
}

/// Appends a matrix product whose units are mostly a multiple of 64, of 8 bits, of the last result
/// or an earlier one, and often a shortcut.
inline void try_units(DrawnGraph& g, Draw& draw) {
  const uint32_t last = last_result(g);
  const uint32_t x = draw(0, 3) > 0 || g.nodes.empty()
      ? last
      : g.nodes[static_cast<std::size_t>(draw(0, std::ssize(g.nodes) - 1))].out;
  const i64 units = draw(0, 7) > 0 ? 64 * draw(1, 3) : draw(1, 70);
  if (g.entries[x].type.precision > 8) return;
  const bool has_bias = draw.coin();
  std::vector<uint32_t> in = {x, constant(g, {{units, g.entries[x].type.dim(1)}, 8}, draw)};
  if (has_bias) in.push_back(constant(g, {{units}, 14}, draw));
  if (!try_call(g, {"dense", 0, {{units}, {has_bias}}}, in)) return;
  if (draw(0, 5) > 0)
    try_call(
        g, {"cvm_right_shift", 1, {{draw(0, 5) > 0 ? 8 : 12}, {draw(5, 9)}, {1}}}, {last_entry(g)});
  if (draw(0, 2) == 0) try_call(g, {"relu", 1, {}}, {last_entry(g)});
  if (draw.coin() && try_call(g, {"elemwise_add", 2, {}}, {last_entry(g), last}))
    try_call(g, {"cvm_clip", 1, {{draw(6, 8)}, {1}}}, {last_entry(g)});
}

inline DrawnGraph drawn_matrices(Draw& draw) {
  DrawnGraph g;
  const i64 rows = draw(0, 3) > 0 ? draw(16, 50) : draw(1, 15);
  const Shape shape{rows, draw.coin() ? 64 * draw(1, 3) : draw(1, 200)};
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  const bool is_inside = draw.coin();
  if (is_inside) try_call(g, {"negative", 1, {}}, {0});
  for (i64 k = draw(1, 4); k > 0; --k) try_units(g, draw);
  if (draw(0, 3) == 0) g.heads.push_back(last_result(g));
  if (is_inside) try_call(g, {"negative", 1, {}}, {last_result(g)});
  if (!g.heads.empty() && g.heads[0] == last_result(g)) return g;
  g.heads.push_back(last_result(g));
  return g;
}

inline bool contains(const std::vector<uint32_t>& all, uint32_t e) {
  return std::find(all.begin(), all.end(), e) != all.end();
}

/// The graph with every tensor in a layout of its own, and with its values if it is a feed or a
/// constant. Some constants are int8 where the backend reads them.
inline client::Graph graph_of(
    const DrawnGraph& g, std::vector<Placed>& placed, Draw& draw, const client::Backend& backend) {
  const bool reads_int8 = backend.library().has_int8_constants();
  for (const reference::Tensor& t : g.entries) placed.emplace_back(t, draw);
  client::Graph graph{{}, {}, g.feeds, g.heads};
  for (const DrawnGraph::Node& n : g.nodes)
    graph.nodes.push_back({std::string(n.op->name),
        client::attributes_of(*n.op, {n.attrs.data(), static_cast<int>(n.attrs.size())}), n.in,
        {n.out}});
  for (uint32_t e = 0; e < placed.size(); ++e) {
    const bool is_given = contains(g.feeds, e) || contains(g.constants, e);
    if (is_given) placed[e].for_each([](i32& element, i32 value) { element = value; });
    const bool is_constant = contains(g.constants, e);
    const bool is_int8 =
        reads_int8 && is_constant && g.entries[e].type.precision <= 8 && draw.coin();
    graph.entries.push_back(is_int8 ? placed[e].bytes_view() : placed[e].view(is_constant));
  }
  return graph;
}

/// Compiles a graph, every outer tensor in a layout of its own.
inline Ready compiled(const client::Backend& backend, const DrawnGraph& g, Draw& draw) {
  std::vector<Placed> placed, in, heads;
  const client::Graph graph = graph_of(g, placed, draw, backend);
  auto plan = backend.compile(graph);
  const uint64_t scratch = plan.ok() ? plan->scratch_bytes() : 0;
  EXPECT_LE(scratch, 2 * bytes_of(placed) + 4096 * graph.nodes.size());
  for (const uint32_t e : g.feeds) in.push_back(placed[e]);
  for (const uint32_t e : g.heads) {
    heads.push_back(placed[e]);
    std::fill(heads.back().memory.begin(), heads.back().memory.end(), kPoison);
  }
  return {std::move(in), std::move(heads), std::move(placed), std::move(plan)};
}

}  // namespace lockstep::cpu
