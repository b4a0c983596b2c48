/// @file
/// Memory that the results of a graph share.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::cpu {

using u64 = std::uint64_t;

/// Rounds up to the alignment of scratch memory.
constexpr u64 rounded(u64 bytes) { return (bytes + 63) / 64 * 64; }

/// Places tensors in one arena so that no two that live at the same time share a byte.
class Arena {
 public:
  /// Places a tensor that lives in the steps first .. last, after those that begin earlier.
  /// @return its offset
  u64 place(u64 bytes, std::size_t first, std::size_t last) {
    std::erase_if(live_, [&](const Block& b) { return b.last < first; });
    u64 at = 0;
    auto next = live_.begin();
    for (; next != live_.end() && at + bytes > next->at; ++next)
      at = std::max(at, next->at + next->bytes);
    live_.insert(next, {at, rounded(bytes), last});
    bytes_ = std::max(bytes_, at + rounded(bytes));
    return at;
  }
  u64 bytes() const { return bytes_; }

 private:
  struct Block {
    u64 at, bytes;
    std::size_t last;
  };
  std::vector<Block> live_;  // ordered by their places
  u64 bytes_ = 0;
};

}  // namespace lockstep::cpu
