/// @file
/// What the calls of a graph become on every device: groups of calls that one step computes.
#pragma once
#include <algorithm>
#include <functional>

#include "backends/cpu/finish.h"
#include "backends/cpu/nests.h"

namespace lockstep::cpu {

using Entry = uint32_t;
using Entries = std::vector<Entry>;

/// A call, a chain of elementwise ones, or a product and a chain that finishes its sums.
struct Group {
  backend::LegalCall call;           ///< of the first node
  std::vector<Stage> stages{};       ///< of the chain
  std::vector<ChainInput> inputs{};  ///< of the chain; after a product the first are its sums
  Entries in{}, out{};
  std::optional<FinishedStages> finish{};  ///< only of a product
  bool is_constant = false;                ///< whether all that it reads is constant

  bool is_chain() const { return !stages.empty() || finish; }
  /// Whether an entry is one of a product's inputs after the first.
  bool has_parameter(Entry e) const {
    const auto last = in.begin() + static_cast<std::ptrdiff_t>(call.in.size());
    return std::find(in.begin() + 1, last, e) != last;
  }
  /// The entries that a chain after a product reads besides its sums.
  Entries added() const {
    return {in.begin() + static_cast<std::ptrdiff_t>(call.in.size()), in.end()};
  }
};

/// What a device can join.
struct Joins {
  bool chains;  ///< elementwise calls with each other
  /// Whether a call is a product that can finish its sums.
  std::function<bool(const backend::LegalCall&)> finishes;
};

/// The groups of a graph, in an order in which they can run.
class Grouping {
 public:
  /// @param graph one that check_graph() accepts, which outlives this object
  /// @throws LogicError for a call that breaks a rule.
  Grouping(const backend::Graph& graph, Joins joins);
  Grouping(const Grouping&) = delete;
  Grouping& operator=(const Grouping&) = delete;

  const std::vector<Group>& groups() const { return groups_; }
  /// The entries; those that no caller sees are compact, whatever strides the caller gave them.
  const std::vector<ls_tensor>& tensors() const { return tensors_; }
  /// Whether the values of an entry follow from constants alone.
  bool is_constant(Entry e) const { return is_constant_[e]; }
  /// How many elements the memory of an entry spans, from its first to its last.
  uint64_t extent(Entry e) const;

  /// The results of at most 8 bits that a device may lay out as it likes: no caller sees them, and
  /// `can` is true of every group that writes or reads them.
  std::vector<bool> inner_results(const std::function<bool(const Group&, Entry)>& can) const;
  /// The groups that write or read each entry, but for constant ones.
  std::vector<std::vector<const Group*>> users() const;

 private:
  void count_readers(const ls_node& n);
  void lay_out_results();
  backend::LegalCall checked(const ls_node& n) const;
  void add(const ls_node& n);
  void push(Group g);
  bool extend(const Group& g, const Stage& stage);

  const backend::Graph& graph_;
  Joins joins_;
  std::vector<ls_tensor> tensors_;
  std::vector<std::array<i64, kMaxRank>> strides_;  // of results that no caller sees
  std::vector<bool> is_constant_, is_head_;
  std::vector<std::size_t> chains_;  // the number from 1 of the chain that ends with an entry, or 0
  std::vector<int> readers_;         // nodes that read an entry
  std::vector<Group> groups_;
};

}  // namespace lockstep::cpu
