/// @file
/// Memory that the results of a graph share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <vector>

namespace lockstep::cpu {

using u64 = std::uint64_t;

/// Rounds up to the alignment of scratch memory.
constexpr u64 rounded(u64 bytes) { return (bytes + 63) / 64 * 64; }

/// Places tensors in one arena so that no two that live at the same time share a byte. Each gets
/// the smallest gap that holds it, which takes a time that grows with the logarithm of the gaps.
class Arena {
 public:
  /// Places a tensor that lives in the steps first .. last, after those that begin earlier.
  /// @return its offset
  u64 place(u64 bytes, std::size_t first, std::size_t last) {
    for (; !live_.empty() && live_.top().last < first; live_.pop()) release(live_.top().block);
    const Block block{rounded(bytes), take(rounded(bytes))};
    live_.push({last, block});
    return block.at;
  }
  u64 bytes() const { return bytes_; }

 private:
  struct Block {
    u64 bytes, at;
    bool operator<(const Block& other) const {
      return bytes != other.bytes ? bytes < other.bytes : at < other.at;
    }
  };
  struct Tenant {
    std::size_t last;
    Block block;
    bool operator<(const Tenant& other) const { return last > other.last; }
  };

  u64 take(u64 bytes) {
    if (const auto gap = by_size_.lower_bound({bytes, 0}); gap != by_size_.end()) {
      const Block found = *gap;
      remove(found);
      if (found.bytes > bytes) add({found.bytes - bytes, found.at + bytes});
      return found.at;
    }
    u64 at = bytes_;
    if (const auto last = by_place_.rbegin(); last != by_place_.rend())
      if (const auto [begin, size] = *last; begin + size == bytes_) {
        remove({size, begin});
        at = begin;
      }
    bytes_ = at + bytes;
    return at;
  }
  /// Makes a gap of a block, joined with the gaps beside it.
  void release(Block b) {
    if (const auto after = by_place_.find(b.at + b.bytes); after != by_place_.end()) {
      b.bytes += after->second;
      remove({after->second, after->first});
    }
    if (const auto next = by_place_.lower_bound(b.at); next != by_place_.begin())
      if (const auto [at, bytes] = *std::prev(next); at + bytes == b.at) {
        remove({bytes, at});
        b = {bytes + b.bytes, at};
      }
    add(b);
  }
  void add(const Block& gap) {
    by_size_.insert(gap);
    by_place_[gap.at] = gap.bytes;
  }
  void remove(const Block& gap) {
    by_size_.erase(gap);
    by_place_.erase(gap.at);
  }

  std::priority_queue<Tenant> live_;  // the one that ends first is on top
  std::set<Block> by_size_;           // the gaps
  std::map<u64, u64> by_place_;       // the bytes of each
  u64 bytes_ = 0;
};

}  // namespace lockstep::cpu
