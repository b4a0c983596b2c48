/// @file
/// The heap of a backend. This program replaces malloc and its kin, which its library then calls
/// as well. Under a sanitizer, which has a heap of its own, nothing here guards.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace lockstep::judge::heap {

/// From now on each new block of up to some MiB, as long as there are not too many, ends at an
/// inaccessible page. Alignment may leave bytes between block and page: when the block is freed,
/// these and some bytes before it are checked for changes. The freed block gets other bytes, which
/// are checked when its memory serves again.
void guard();

/// Fills each new block with `poison` from now on, so that a call which reads before it writes
/// computes something else for another poison.
void fill(char poison);

/// An access beside a block, or to one that is freed.
struct Access {
  std::uint64_t bytes;  ///< of the block
  std::int64_t at;      ///< from its beginning, in bytes
};

inline std::string text(const Access& a) {
  if (a.at >= 0 && std::cmp_less(a.at, a.bytes))
    return "byte " + std::to_string(a.at) + " of a block of " + std::to_string(a.bytes) +
        " bytes of its heap that it had freed";
  const bool before = a.at < 0;
  const auto n = before ? -a.at : a.at + 1 - static_cast<std::int64_t>(a.bytes);
  return "byte " + std::to_string(n) + (before ? " before" : " after") + " a block of " +
      std::to_string(a.bytes) + " bytes of its heap";
}

/// The first such write that was found since the last call of this function, which also checks the
/// blocks freed last.
std::optional<Access> damage();

/// Where an address lies relative to the block nearest to it; nothing if it lies outside this heap.
/// Signal handlers may call it.
std::optional<Access> near(const char* address);

}  // namespace lockstep::judge::heap
