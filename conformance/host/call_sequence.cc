#include "conformance/host/call_sequence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/host/channel.h"

namespace lockstep::judge {
namespace {

// Whole cache lines, as long as the entries' memory.
uint64_t bytes_of(const client::TensorView& t) {
  uint64_t bytes = sizeof(int32_t);
  for (const int64_t extent : t.shape) bytes *= static_cast<uint64_t>(extent);
  return round_up(bytes, client::kAlignment);
}

// Memory of which parts are taken and given back.
class Places {
 public:
  /// The smallest place that is free.
  uint64_t take(uint64_t bytes) {
    uint64_t at = 0;
    for (const auto& [first, length] : taken_) {
      if (first >= at + bytes) break;
      at = first + length;
    }
    taken_.emplace(at, bytes);
    most_ = std::max(most_, at + bytes);
    return at;
  }
  void give_back(uint64_t at) { taken_.erase(at); }
  /// The end of all that was ever taken.
  uint64_t most() const { return most_; }

 private:
  std::map<uint64_t, uint64_t> taken_;
  uint64_t most_ = 0;
};

}  // namespace

CallSequence::CallSequence(const client::Graph& graph)
    : heads_(graph.heads), places_(graph.entries.size()) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::vector<std::size_t> last(graph.entries.size(), kNever);
  for (std::size_t k = 0; k < graph.nodes.size(); ++k)
    for (const auto* entries : {&graph.nodes[k].in, &graph.nodes[k].out})
      for (const uint32_t e : *entries) last[e] = k;
  for (const uint32_t e : heads_) last[e] = kNever;

  Places memory;
  std::vector<bool> is_placed(graph.entries.size());
  for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
    const client::Node& n = graph.nodes[k];
    for (const uint32_t e : n.out) {
      is_placed[e] = last[e] != kNever;
      if (is_placed[e]) places_[e] = memory.take(bytes_of(graph.entries[e]));
    }
    for (const auto* entries : {&n.in, &n.out})
      for (const uint32_t e : *entries)
        if (is_placed[e] && last[e] == k) memory.give_back(places_[e]);
  }
  results_bytes_ = memory.most();
}

client::Result<CallSequence> CallSequence::prepare(
    const client::Backend& backend, client::Graph& graph) {
  CallSequence all(graph);
  for (client::Node& n : graph.nodes) {
    client::Call call{n.op, std::move(n.attrs), {}, {}};
    for (const uint32_t e : n.in) call.in.push_back(graph.entries[e]);
    for (const uint32_t e : n.out) call.out.push_back(graph.entries[e]);
    client::Result<client::Plan> plan = backend.prepare(call);
    n.attrs = std::move(call.attrs);
    if (!plan.ok()) return plan.status();
    all.calls_bytes_ = std::max(all.calls_bytes_, plan->scratch_bytes());
    all.calls_.push_back({std::move(*plan), n.in, n.out});
  }
  return all;
}

client::Status CallSequence::execute(std::span<const void* const> in, std::span<void* const> out,
    void* scratch, void* stream) const {
  std::vector<void*> at;
  for (const uint64_t place : places_) at.push_back(static_cast<char*>(scratch) + place);
  for (std::size_t e = 0; e < in.size(); ++e) at[e] = const_cast<void*>(in[e]);
  for (std::size_t k = 0; k < out.size(); ++k) at[heads_[k]] = out[k];
  for (const Call& call : calls_) {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const uint32_t e : call.in) inputs.push_back(at[e]);
    for (const uint32_t e : call.out) outputs.push_back(at[e]);
    client::Status status =
        call.plan.execute(inputs, outputs, static_cast<char*>(scratch) + results_bytes_, stream);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace lockstep::judge
