#include "backends/cpu/groups.h"

#include <algorithm>

namespace lockstep::cpu {
namespace {

/// The most stages of a chain, which bounds the price of compiling one.
constexpr std::size_t kMostStages = 64;

/// Appends a call to a chain. @return false where a product cannot finish its sums so
bool append(Group& chain, const Group& g, Stage stage, Entry link) {
  const std::vector<ChainInput> inputs = chain_inputs(g.call);
  for (std::size_t k = 0; k < g.in.size(); ++k) {
    stage.operand[k] = 0;
    if (g.in[k] == link) continue;
    if (chain.finish && inputs[k].view.shape != g.call.out[0].shape) return false;
    chain.in.push_back(g.in[k]);
    chain.inputs.push_back(inputs[k]);
    stage.operand[k] = static_cast<int>(chain.inputs.size());
  }
  if (chain.finish && !chain.finish->append(stage, g.call.out[0].precision)) return false;
  chain.stages.push_back(stage);
  chain.out = g.out;
  return true;
}

}  // namespace

Grouping::Grouping(const backend::Graph& graph, Joins joins)
    : graph_(graph),
      joins_(std::move(joins)),
      tensors_(graph.entries.begin(), graph.entries.end()),
      strides_(graph.entries.size()),
      is_constant_(graph.entries.size()),
      is_head_(graph.entries.size()),
      chains_(graph.entries.size()),
      readers_(graph.entries.size()) {
  for (Entry e = 0; e < tensors_.size(); ++e) is_constant_[e] = graph.is_constant(e);
  for (const Entry e : graph.heads) is_head_[e] = true;
  for (const ls_node& n : graph.nodes) count_readers(n);
  lay_out_results();
  for (const ls_node& n : graph.nodes) add(n);
  std::erase_if(groups_, [](const Group& g) { return g.out.empty(); });
}

void Grouping::count_readers(const ls_node& n) {
  Entries in(n.in, n.in + n.n_in);
  std::sort(in.begin(), in.end());
  in.erase(std::unique(in.begin(), in.end()), in.end());
  for (const Entry e : in) ++readers_[e];
}

void Grouping::lay_out_results() {
  std::vector<bool> is_outside = is_head_;
  for (const Entry e : graph_.feeds) is_outside[e] = true;
  for (Entry e = 0; e < tensors_.size(); ++e) {
    if (is_outside[e] || is_constant_[e]) continue;
    DLTensor& t = tensors_[e].dl;
    i64 n = 1;
    for (int d = t.ndim - 1; d >= 0; --d) {
      strides_[e][static_cast<std::size_t>(d)] = n;
      n *= t.shape[d];
    }
    t.strides = strides_[e].data();
  }
}

uint64_t Grouping::extent(Entry e) const {
  const DLTensor& t = tensors_[e].dl;
  i64 last = 0;
  for (int d = 0; d < t.ndim; ++d) last += (t.shape[d] - 1) * t.strides[d];
  return static_cast<uint64_t>(last) + 1;
}

backend::LegalCall Grouping::checked(const ls_node& n) const {
  std::vector<ls_tensor> in, out;
  for (const Entry e : backend::Graph::inputs(n)) in.push_back(tensors_[e]);
  for (const Entry e : backend::Graph::outputs(n)) out.push_back(tensors_[e]);
  return backend::legal_call({n.op, {n.attrs, n.n_attrs}, in, out});
}

void Grouping::add(const ls_node& n) {
  Group g{.call = checked(n)};
  g.in.assign(n.in, n.in + n.n_in);
  g.out.assign(n.out, n.out + n.n_out);
  g.is_constant = std::all_of(g.in.begin(), g.in.end(), [&](Entry e) { return is_constant_[e]; });
  if (g.is_constant) {
    for (const Entry e : g.out) is_constant_[e] = true;
  } else if (const std::optional<Stage> stage = stage_of(g.call)) {
    if (extend(g, *stage)) return;
    if (joins_.chains) {
      g.stages = {*stage};
      g.inputs = chain_inputs(g.call);
    }
  } else if (joins_.finishes(g.call)) {
    g.finish.emplace(g.call.out[0].precision);
    g.inputs.resize(1);
  }
  push(std::move(g));
}

void Grouping::push(Group g) {
  groups_.push_back(std::move(g));
  if (const Group& last = groups_.back(); last.is_chain()) chains_[last.out[0]] = groups_.size();
}

/// Appends an elementwise call to a chain that computes one of its inputs for it alone.
bool Grouping::extend(const Group& g, const Stage& stage) {
  Entries links = g.in;
  std::sort(links.begin(), links.end(), [&](Entry a, Entry b) { return chains_[a] < chains_[b]; });
  for (const Entry link : links) {
    if (chains_[link] == 0 || readers_[link] != 1 || is_head_[link]) continue;
    Group& chain = groups_[chains_[link] - 1];
    if (chain.stages.size() >= kMostStages) continue;
    if (backend::type_of(tensors_[link]).shape != g.call.out[0].shape) continue;
    Group longer = chain;
    if (!append(longer, g, stage, link)) continue;
    if (longer.in.size() + 1 > kLoopTensorsMax) continue;
    chain = {.call = longer.call};  // without outputs, it is no longer a group
    push(std::move(longer));
    return true;
  }
  return false;
}

std::vector<std::vector<const Group*>> Grouping::users() const {
  std::vector<std::vector<const Group*>> all(tensors_.size());
  for (const Group& g : groups_) {
    if (g.is_constant) continue;
    for (const Entries& some : {g.in, g.out})
      for (const Entry e : some) all[e].push_back(&g);
  }
  return all;
}

std::vector<bool> Grouping::inner_results(
    const std::function<bool(const Group&, Entry)>& can) const {
  std::vector<bool> all(tensors_.size());
  const std::vector<std::vector<const Group*>> users = this->users();
  for (const Group& g : groups_) {
    const Entry e = g.out[0];
    if (g.is_constant || is_head_[e] || tensors_[e].precision > 8) continue;
    all[e] = std::all_of(
        users[e].begin(), users[e].end(), [&](const Group* user) { return can(*user, e); });
  }
  return all;
}

}  // namespace lockstep::cpu
