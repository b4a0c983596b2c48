#include "backends/faulty/graph.h"

#include <algorithm>
#include <utility>

namespace lockstep::faulty {
namespace {

// Elements from a tensor's first to its last.
std::size_t cells_of(const ls_tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.dl.ndim; ++d) last += (t.dl.shape[d] - 1) * t.dl.strides[d];
  return static_cast<std::size_t>(last) + 1;
}

std::vector<ls_tensor> tensors_of(const backend::Graph& g, std::span<const uint32_t> numbers) {
  std::vector<ls_tensor> all;
  for (const uint32_t e : numbers) all.push_back(g.entries[e]);
  return all;
}

}  // namespace

GraphPlan::GraphPlan(const backend::Graph& graph, GraphHabits habits)
    : entries_(graph.entries.size()),
      feeds_(graph.feeds.begin(), graph.feeds.end()),
      heads_(graph.heads.begin(), graph.heads.end()),
      habits_(habits) {
  for (const ls_node& n : graph.nodes) {
    const auto in = backend::Graph::inputs(n), out = backend::Graph::outputs(n);
    const std::vector<ls_tensor> x = tensors_of(graph, in), y = tensors_of(graph, out);
    for (const uint32_t e : in)
      if (!std::exchange(entries_[e].is_read, true)) entries_[e].first_reader = steps_.size();
    const Call call{n.op, {n.attrs, n.n_attrs}, x, y};
    try {
      steps_.push_back(
          {backend::legal_call(call), {in.begin(), in.end()}, {out.begin(), out.end()}});
    } catch (const backend::LogicError&) {
      if (!habits_.trusts_calls) throw;
    }
  }
  copy_heads(graph);
  for (uint32_t e = 0; e < graph.entries.size(); ++e) {
    const ls_tensor& t = graph.entries[e];
    entries_[e].cells = cells_of(t);
    if (!graph.is_constant(e)) continue;
    const auto copy = [&](const auto* data) {
      entries_[e].constant.assign(data, data + entries_[e].cells);
    };
    if (!graph.is_int8(e))
      copy(static_cast<const i32*>(t.dl.data));
    else if (habits_.drops_signs)
      copy(static_cast<const uint8_t*>(t.dl.data));
    else
      copy(static_cast<const int8_t*>(t.dl.data));
  }
}

void GraphPlan::copy_heads(const backend::Graph& graph) {
  std::vector<bool> has_place(entries_.size());
  for (const uint32_t e : feeds_) has_place[e] = true;
  for (uint32_t e = 0; e < has_place.size(); ++e)
    if (graph.is_constant(e)) has_place[e] = true;
  for (uint32_t& head : heads_) {
    const uint32_t e = head;
    if (!has_place[e]) {
      has_place[e] = true;
      continue;
    }
    static constexpr int64_t kAxis = 0;
    const ls_attr axis{"axis", LS_INT, 1, &kAxis, nullptr};
    const ls_tensor& t = graph.entries[e];
    head = static_cast<uint32_t>(entries_.size());
    entries_.push_back({.cells = cells_of(t)});
    steps_.push_back(
        {backend::legal_call({"concatenate", {&axis, 1}, {&t, 1}, {&t, 1}}), {e}, {head}});
  }
}

void GraphPlan::run(const i32* const* in, i32* const* out, void*) const {
  constexpr i32 kMost = 127;
  std::vector<std::vector<i32>> memory(entries_.size());
  std::vector<const i32*> read(entries_.size());
  std::vector<i32*> written(entries_.size());
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    memory[e] = entries_[e].constant;
    memory[e].resize(entries_[e].cells);
    read[e] = written[e] = memory[e].data();
  }
  for (std::size_t k = 0; k < feeds_.size(); ++k) read[feeds_[k]] = in[k];
  for (std::size_t k = 0; k < heads_.size(); ++k)
    if (!(habits_.keeps_read_heads && entries_[heads_[k]].is_read) &&
        !(habits_.holds_two_heads && k >= 2))
      read[heads_[k]] = written[heads_[k]] = out[k];
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    std::vector<const i32*> x;
    std::vector<i32*> y;
    for (const uint32_t e : step.in) x.push_back(read[e]);
    for (const uint32_t e : step.out) y.push_back(written[e]);
    Behaviour().execute(step.call, x.data(), y.data());
    for (const uint32_t e : step.out)
      if (habits_.narrows)
        for (i32& v : memory[e]) v = std::clamp(v, -kMost, kMost);
    for (const uint32_t e : step.in)
      if (habits_.frees_early && entries_[e].constant.empty() && entries_[e].first_reader == s)
        std::fill(memory[e].begin(), memory[e].end(), 0);
  }
}

}  // namespace lockstep::faulty
