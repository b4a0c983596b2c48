/// @file
/// Where the tensors of a graph lie while it runs: which share memory, and when.
#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/arena.h"
#include "backends/cpu/groups.h"
#include "backends/cpu/kernels.h"

namespace lockstep::cpu {

/// One plan of a graph and what it reads and writes.
struct GraphStep {
  std::unique_ptr<Plan> plan;
  Entries in, out;
};

/// Where the data of an entry lies during an execution.
struct Place {
  enum { constant, feed, head, arena } kind;
  std::size_t number = 0;     ///< of the feed or head
  const i32* data = nullptr;  ///< of the constant
  u64 at = 0;                 ///< where the entry begins in it, or in the arena, in bytes
};

/// Gives each entry its place. Those that lie in the arena, and only those, can be laid into
/// others.
class Storage {
 public:
  /// Adds an entry of so many bytes, numbered from 0.
  Entry add(const Place& place, u64 bytes);

  /// Lets an entry be a part of another one, `at` bytes from its beginning, for as long as any of
  /// the two lives. The caller knows that both hold the same values there, or that at most one
  /// lives at a time.
  /// @return whether the entry can be laid; else it is already a part of another one, or the caller
  /// of execute() says where it lies
  bool lay(Entry part, Entry whole, u64 at);
  /// Lays all these entries into one, or none.
  bool lay(const Entries& parts, Entry whole, const std::vector<u64>& at);

  /// Lets outputs of the steps take the places of inputs that are read for the last time, where a
  /// plan may work in place, and places what lies in the arena.
  /// @return the bytes of the arena
  u64 place(const std::vector<GraphStep>& steps);
  /// The places of all entries, after place().
  std::vector<Place> places();

 private:
  /// The entry of which another one is a part, if only of itself, and where the part begins.
  struct Part {
    Entry whole;
    u64 at;
  };
  /// The steps in which an entry or one of its parts is used.
  struct Life {
    std::size_t first, last;
  };

  Part outermost(Entry e);
  bool can_lie_elsewhere(Entry e);
  void note_lives(const std::vector<GraphStep>& steps);
  void work_in_place(const GraphStep& step, std::size_t number);

  std::vector<Place> place_;
  std::vector<u64> bytes_;
  std::vector<Part> part_;
  std::vector<Life> life_;
};

}  // namespace lockstep::cpu
