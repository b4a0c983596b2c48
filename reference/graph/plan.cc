#include "reference/graph/plan.h"

#include <algorithm>

namespace lockstep::graph {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, Reuse reuse)
      : graph_(graph), reuse_(reuse), ids_(graph.entries().size(), -1) {}

  std::vector<i64> plan() {
    for (const Node& n : graph_.nodes())
      if (n.is_variable()) put(n.first_entry, fresh());
    for (int i = 0; i < static_cast<int>(graph_.nodes().size()); ++i) {
      const Node& n = graph_.nodes()[static_cast<std::size_t>(i)];
      for (int k = 0; !n.is_variable() && k < n.entry_count; ++k)
        put(n.first_entry + k, choose(n.first_entry + k, i));
    }
    return ids_;
  }

 private:
  struct Slot {
    int owner = -1;  // the latest entry in it
    i64 size = 0;    // in elements
  };

  i64 size_of(int entry) const { return volume(graph_.entry(entry).type.shape); }
  std::size_t fresh() {
    slots_.emplace_back();
    return slots_.size() - 1;
  }
  void put(int entry, std::size_t slot) {
    slots_[slot] = {entry, std::max(slots_[slot].size, size_of(entry))};
    ids_[static_cast<std::size_t>(entry)] = static_cast<i64>(slot);
  }
  // An input of call `now` that nothing reads again lends its storage; a parameter never does.
  bool in_place(const Slot& slot, int now) const {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(now)];
    const auto last = n.inputs.begin() + std::min<std::ptrdiff_t>(2, std::ssize(n.inputs));
    return reuse_ == Reuse::in_place && n.op->in_place &&
        graph_.entry(slot.owner).last_use == now &&
        std::find(n.inputs.begin(), last, slot.owner) != last;
  }
  // The smallest free slot that is large enough, else the largest one, which then grows.
  std::size_t choose(int entry, int now) {
    const i64 size = size_of(entry);
    const auto before = [size](i64 a, i64 b) {
      return (a >= size) != (b >= size) ? a >= size : a >= size ? a < b : a > b;
    };
    std::size_t best = slots_.size();
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const bool free = graph_.entry(slots_[s].owner).last_use < now;
      if (in_place(slots_[s], now)) return s;
      if (free && (best == slots_.size() || before(slots_[s].size, slots_[best].size))) best = s;
    }
    return best < slots_.size() ? best : fresh();
  }

  const Graph& graph_;
  Reuse reuse_;
  std::vector<i64> ids_;
  std::vector<Slot> slots_;
};

}  // namespace

std::vector<i64> plan_storage(const Graph& graph, Reuse reuse) {
  return Planner(graph, reuse).plan();
}

}  // namespace lockstep::graph
