/// @file
/// A graph as a program runs it on a backend that does not compile graphs: call by call.
#pragma once
#include <vector>

#include "backends/client.hpp"

namespace lockstep::judge {

/// The plans of a graph's calls, all alive at once. Results that are no head lie in scratch memory,
/// where a result gets the place of one that no later call reads.
class CallSequence {
 public:
  /// Prepares the calls. No head is a feed, a constant or an earlier head, since no call copies.
  /// @param graph is as it was when this returns
  static client::Result<CallSequence> prepare(const client::Backend& backend, client::Graph& graph);

  /// The bytes of scratch memory that each execution needs.
  uint64_t scratch_bytes() const { return results_bytes_ + calls_bytes_; }
  /// Runs the calls in order. Its inputs are the graph's first entries, its outputs the heads.
  client::Status execute(std::span<const void* const> in, std::span<void* const> out, void* scratch,
      void* stream) const;

 private:
  struct Call {
    client::Plan plan;
    std::vector<uint32_t> in, out;  // numbers of entries
  };

  explicit CallSequence(const client::Graph& graph);

  std::vector<Call> calls_;
  std::vector<uint32_t> heads_;
  std::vector<uint64_t> places_;  // by entry, in scratch memory
  uint64_t results_bytes_ = 0, calls_bytes_ = 0;
};

}  // namespace lockstep::judge
