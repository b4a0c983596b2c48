#include <algorithm>
#include <unordered_map>

#include "reference/graph/error.h"
#include "reference/graph/graph.h"

namespace lockstep::graph {
namespace {

class Storage {
 public:
  explicit Storage(const Graph& graph) : graph_(graph) {}

  i64 check() {
    const int n = static_cast<int>(graph_.nodes().size());
    // Variables have their data before any call runs, wherever they stand in the list.
    for (int i = 0; i < n; ++i)
      if (node(i).is_variable()) occupy(node(i).first_entry, -1);
    for (int i = 0; i < n; ++i)
      if (!node(i).is_variable())
        for (int k = 0; k < node(i).entry_count; ++k) occupy(node(i).first_entry + k, i);
    return bytes_;
  }

 private:
  struct Slot {
    int owner;  // the latest entry that used it; no earlier one is read again
    i64 bytes;
  };

  const Node& node(int i) const { return graph_.nodes()[static_cast<std::size_t>(i)]; }

  // Gives `entry` its storage at the time of node `now`.
  void occupy(int entry, int now) {
    const Entry& e = graph_.entry(entry);
    const auto refuse = [entry](const std::string& why) {
      const std::string path = entry_path("storage_id", entry);
      throw Error("model.storage", path + ": " + why, path);
    };
    if (e.storage_id < 0)
      refuse("an output of " + describe(graph_, e.node) + " has the storage id " +
          std::to_string(e.storage_id));
    const i64 bytes = 4 * volume(e.type.shape);
    const auto [at, is_new] = slots_.try_emplace(e.storage_id, Slot{entry, 0});
    Slot& slot = at->second;
    if (!is_new && graph_.entry(slot.owner).last_use >= now && !in_place(slot.owner, now))
      refuse("storage id " + std::to_string(e.storage_id) + " is given to an output of " +
          describe(graph_, e.node) + " while an output of " +
          describe(graph_, graph_.entry(slot.owner).node) + " is still live in it");
    slot.owner = entry;
    bytes_ += std::max<i64>(0, bytes - slot.bytes);
    slot.bytes = std::max(slot.bytes, bytes);
    if (bytes_ > kMaxStorageBytes)
      refuse("more than 2^32 bytes of storage are needed at " + describe(graph_, e.node));
  }

  // Whether the call of node `now` may overwrite `entry`, its input 0 or 1.
  bool in_place(int entry, int now) const {
    if (now < 0 || graph_.entry(entry).last_use != now) return false;
    const Node& call = node(now);
    const auto first = call.inputs.begin();
    const auto last = first + std::min<std::ptrdiff_t>(2, std::ssize(call.inputs));
    return call.op->in_place && std::find(first, last, entry) != last;
  }

  const Graph& graph_;
  std::unordered_map<i64, Slot> slots_;
  i64 bytes_ = 0;
};

}  // namespace

i64 check_storage(const Graph& graph) { return Storage(graph).check(); }

}  // namespace lockstep::graph
