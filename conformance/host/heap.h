/// @file
/// The heap of a backend. This program replaces malloc and its kin, which its library then calls
/// as well. Under a sanitizer, which has a heap of its own, nothing here guards.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::judge::heap {

/// From now on each new block of up to some MiB, as long as there are not too many, ends at an
/// inaccessible page. Its alignment may leave bytes between; these and some before it are looked at
/// when it is freed.
void guard();

/// What each new block is full of from now on, so that a call which reads before it writes
/// computes something else for another poison.
void fill(char poison);

/// An access beside a block.
struct Access {
  std::uint64_t bytes;  ///< of the block
  std::int64_t at;      ///< from its beginning, in bytes
};

inline std::string text(const Access& a) {
  const bool before = a.at < 0;
  const auto n = before ? -a.at : a.at + 1 - static_cast<std::int64_t>(a.bytes);
  return "byte " + std::to_string(n) + (before ? " before" : " after") + " a block of " +
      std::to_string(a.bytes) + " bytes of its heap";
}

/// A write beside a block that was found since this was last asked.
std::optional<Access> damage();

/// What an address is to the block nearest to it, if it lies in this heap. Signal handlers may ask.
std::optional<Access> near(const char* address);

}  // namespace lockstep::judge::heap
