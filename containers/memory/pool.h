/// @file
/// Recycles host memory. The kernel provides fresh pages one fault at a time and zeroes each, which
/// costs more than most arithmetic on them; a recycled block already has its pages.
///
/// Recycled memory holds whatever its last owner left in it: it must never be assumed to be zero.
///
/// A sanitizer sees a use after release only in memory that was really freed. Under one, and in a
/// build without LOCKSTEP_RECYCLE, the process's pool therefore keeps nothing unless the
/// environment asks it to: LOCKSTEP_POOL_LIMIT is the number of bytes to keep, and 0 turns
/// recycling off in any build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace lockstep::ndarray {

/// What a pool has done, and what it holds.
struct PoolStatistics {
  std::size_t used_bytes = 0;   ///< in blocks that are out, each rounded up to its size class
  std::size_t kept_bytes = 0;   ///< in blocks that wait to be used again
  std::uint64_t allocated = 0;  ///< blocks handed out so far
  std::uint64_t reused = 0;     ///< those among them that had been given back before
  /// Whether all four numbers are equal.
  bool operator==(const PoolStatistics&) const = default;
};

/// Blocks of host memory, usable from several threads at once. Sizes fall into classes, four to a
/// doubling, so that a block serves again for sizes near its own; at most a fifth of it is unused.
class BlockPool {
 public:
  /// Of every block. It is the size of a cache line, and of the widest vector.
  static constexpr std::size_t kAlignment = 64;
  /// The largest block there is: half of what an x86-64 process can address.
  static constexpr std::size_t kBlockBytesMax = std::size_t{1} << 46;

  /// Keeps at most `limit` bytes; 0 gives every block back at once.
  explicit BlockPool(std::size_t limit) : limit_(limit) {}
  /// Frees what is kept. Blocks that are out must have been released.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// A block of at least this many bytes, of unspecified contents; null for none.
  /// @throws utils::OutOfMemory naming the size when there is no memory for it.
  std::byte* allocate(std::size_t bytes);

  /// Takes back what allocate() returned for this size. The blocks longest unused go first when
  /// more than the limit would be kept.
  void release(std::byte* block, std::size_t bytes) noexcept;

  /// How many bytes may be kept.
  std::size_t limit() const;
  /// Frees what exceeds the new limit.
  void set_limit(std::size_t bytes);
  /// Frees everything that is kept, and says how many bytes it was.
  std::size_t trim() noexcept;
  /// The numbers of this moment.
  PoolStatistics statistics() const;

  /// The size of the block that serves a request of `bytes`, 1 to kBlockBytesMax.
  static std::size_t block_bytes(std::size_t bytes);

 private:
  /// A member of a ring of kept blocks. The ring itself is the one member without a block.
  struct Link {
    Link *before = this, *after = this;
    bool alone() const { return after == this; }
    void join_after(Link& place);
    void leave();
  };
  struct ByClass : Link {};
  struct ByAge : Link {};
  /// The pool's notes on a kept block, stored in the block's own first bytes.
  struct Kept;
  static constexpr std::size_t kClasses = 161;

  void keep(std::byte* block, std::size_t size_class, std::size_t bytes);
  Kept& drop(Kept& block);
  /// Moves the blocks longest unused into `ring` until no more than `bytes` are kept.
  void evict(std::size_t bytes, ByAge& ring);
  static void free_all(ByAge& ring) noexcept;

  mutable std::mutex mutex_;  // guards all that follows
  std::size_t limit_;
  PoolStatistics statistics_;
  std::array<ByClass, kClasses> classes_;  // in each ring, the block released last comes first
  ByAge age_;
};

/// What LOCKSTEP_POOL_LIMIT asks for: `text` is its value, null where it is not set.
/// @throws utils::ValueVerifyFatal when that is not a number of bytes.
std::size_t pool_limit(const char* text);

/// The pool of this process. It outlives every static object, so that they may release into it.
BlockPool& pool();

}  // namespace lockstep::ndarray
