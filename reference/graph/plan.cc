#include "reference/graph/plan.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lockstep::graph {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, Reuse reuse)
      : graph_(graph), reuse_(reuse), ids_(graph.entries().size(), -1) {}

  std::vector<i64> plan() {
    for (const Node& n : graph_.nodes())
      if (n.is_variable()) put(n.first_entry, fresh());
    release(graph_.data(), -1);
    for (int i = 0; i < static_cast<int>(graph_.nodes().size()); ++i) {
      const Node& n = graph_.nodes()[static_cast<std::size_t>(i)];
      if (n.is_variable()) continue;
      for (int k = 0; k < n.entry_count; ++k) put(n.first_entry + k, choose(n.first_entry + k, i));
      for (const int e : n.inputs) release(e, i);
      for (int k = 0; k < n.entry_count; ++k) release(n.first_entry + k, i);
    }
    return ids_;
  }

 private:
  struct Slot {
    int owner = -1;  // the latest entry in it
    i64 size = 0;    // in elements
  };

  i64 size_of(int entry) const { return volume(graph_.entry(entry).type.shape); }
  std::size_t slot_of(int entry) const {
    return static_cast<std::size_t>(ids_[static_cast<std::size_t>(entry)]);
  }
  std::size_t fresh() {
    slots_.emplace_back();
    return slots_.size() - 1;
  }
  void put(int entry, std::size_t slot) {
    slots_[slot] = {entry, std::max(slots_[slot].size, size_of(entry))};
    ids_[static_cast<std::size_t>(entry)] = static_cast<i64>(slot);
  }
  // Whether an entry lies in its storage, and node `now` is the last that needs it.
  bool ends(int entry, int now) const {
    return graph_.entry(entry).last_use == now && slots_[slot_of(entry)].owner == entry;
  }
  void release(int entry, int now) {
    if (ends(entry, now)) free_.emplace(slots_[slot_of(entry)].size, slot_of(entry));
  }
  // The first slot of an input of call `now` that nothing reads again and that lends its storage; a
  // parameter never does. @return slots_.size() if there is none
  std::size_t lent(int now) const {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(now)];
    std::size_t first = slots_.size();
    if (reuse_ != Reuse::in_place || !n.op->in_place) return first;
    for (std::size_t k = 0; k < std::min<std::size_t>(2, n.inputs.size()); ++k)
      if (ends(n.inputs[k], now)) first = std::min(first, slot_of(n.inputs[k]));
    return first;
  }
  // The smallest free slot that is large enough, else the largest one, which then grows; among
  // equals the first.
  std::size_t choose(int entry, int now) {
    if (const std::size_t slot = lent(now); slot < slots_.size()) return slot;
    if (free_.empty()) return fresh();
    auto best = free_.lower_bound({size_of(entry), 0});
    if (best == free_.end()) best = free_.lower_bound({free_.rbegin()->first, 0});
    const std::size_t slot = best->second;
    free_.erase(best);
    return slot;
  }

  const Graph& graph_;
  Reuse reuse_;
  std::vector<i64> ids_;
  std::vector<Slot> slots_;
  std::set<std::pair<i64, std::size_t>> free_;  // slots by size
};

}  // namespace

std::vector<i64> plan_storage(const Graph& graph, Reuse reuse) {
  return Planner(graph, reuse).plan();
}

}  // namespace lockstep::graph
