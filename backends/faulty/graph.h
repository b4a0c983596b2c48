/// @file
/// Graphs as the mutants run them: call by call, each call right.
#pragma once
#include <vector>

#include "backends/faulty/mutant.h"

namespace lockstep::faulty {

class GraphPlan : public backend::Plan {
 public:
  /// @throws LogicError for a call that is not legal.
  GraphPlan(const backend::Graph& graph, GraphHabits habits);
  void run(const i32* const* in, i32* const* out, void* scratch) const override;
  const char* path() const override { return "graph"; }

 private:
  /// Appends a copy for each head that is also a feed, a constant or an earlier head.
  void copy_heads(const backend::Graph& graph);
  struct Step {
    LegalCall call;
    std::vector<uint32_t> in, out;
  };
  struct Entry {
    std::size_t cells = 0;  ///< of its memory, if it is a result that does not leave the graph
    std::size_t first_reader = 0;
    bool is_read = false;
    std::vector<i32> constant = {};
  };

  std::vector<Step> steps_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> feeds_, heads_;
  GraphHabits habits_;
};

}  // namespace lockstep::faulty
