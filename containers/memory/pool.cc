#include "containers/memory/pool.h"

#include <sys/mman.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "containers/instrumented.h"
#include "containers/logging.h"
#include "containers/memory/device.h"

namespace lockstep::ndarray {
namespace {

constexpr std::size_t kSmallest = 64;
// Enough for the live tensors of a large model, and little compared with a machine's memory.
constexpr std::size_t kLimit = std::size_t{512} << 20;

#if defined(LOCKSTEP_NO_RECYCLING)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = !kInstrumented;
#endif

struct SizeClass {
  std::size_t index, bytes;
};

// Class 0 is the smallest block; after it come 5/4, 6/4, 7/4 and 8/4 of each power of two.
constexpr SizeClass size_class(std::size_t bytes) {
  if (bytes <= kSmallest) return {0, kSmallest};
  constexpr int kFirst = std::countr_zero(kSmallest);
  const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t quarters = (bytes - 1) / quarter;  // 4 to 7; the class holds one more
  return {
      static_cast<std::size_t>(power - kFirst) * 4 + (quarters - 4) + 1, (quarters + 1) * quarter};
}

constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::byte* take(std::size_t bytes) {
  void* block = ::operator new (bytes, std::align_val_t{BlockPool::kAlignment}, std::nothrow);
#ifdef MADV_HUGEPAGE
  void* inner = block;
  std::size_t room = bytes;
  // The kernel clears one large page faster than 512 small ones. A refusal changes no result.
  if (block != nullptr && std::align(kLargePage, kLargePage, inner, room) != nullptr)
    static_cast<void>(::madvise(inner, room, MADV_HUGEPAGE));
#endif
  return static_cast<std::byte*>(block);
}

[[noreturn]] void refuse(std::size_t bytes) {
  throw utils::OutOfMemory("no memory for " + std::to_string(bytes) + " bytes");
}

void give(std::byte* block) noexcept {
  ::operator delete (block, std::align_val_t{BlockPool::kAlignment});
}

}  // namespace

struct BlockPool::Kept : ByClass, ByAge {
  std::size_t bytes;
};

void BlockPool::Link::join_after(Link& place) {
  before = &place;
  after = place.after;
  after->before = this;
  place.after = this;
}

void BlockPool::Link::leave() {
  before->after = after;
  after->before = before;
}

BlockPool::~BlockPool() { trim(); }

std::size_t BlockPool::block_bytes(std::size_t bytes) { return size_class(bytes).bytes; }

std::byte* BlockPool::allocate(std::size_t bytes) {
  static_assert(size_class(kBlockBytesMax).index == kClasses - 1);
  static_assert(sizeof(Kept) <= kSmallest && alignof(Kept) <= kAlignment);
  if (bytes == 0) return nullptr;
  if (bytes > kBlockBytesMax) refuse(bytes);
  const SizeClass size = size_class(bytes);
  {
    const std::lock_guard lock(mutex_);
    ByClass& ring = classes_[size.index];
    if (!ring.alone()) {
      Kept& block = drop(static_cast<Kept&>(static_cast<ByClass&>(*ring.after)));
      statistics_.used_bytes += size.bytes;
      ++statistics_.allocated;
      ++statistics_.reused;
      return reinterpret_cast<std::byte*>(&block);
    }
  }
  std::byte* block = take(size.bytes);
  // The memory that the pool keeps may be just what the system lacks.
  if (block == nullptr && trim() != 0) block = take(size.bytes);
  if (block == nullptr) refuse(bytes);
  const std::lock_guard lock(mutex_);
  statistics_.used_bytes += size.bytes;
  ++statistics_.allocated;
  return block;
}

void BlockPool::release(std::byte* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  const SizeClass size = size_class(bytes);
  ByAge evicted;
  bool kept = false;
  {
    const std::lock_guard lock(mutex_);
    statistics_.used_bytes -= size.bytes;
    kept = size.bytes <= limit_;
    if (kept) {
      evict(limit_ - size.bytes, evicted);
      keep(block, size.index, size.bytes);
    }
  }
  // The kernel is slow to take pages back, so this happens outside the lock.
  if (!kept) give(block);
  free_all(evicted);
}

std::size_t BlockPool::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void BlockPool::set_limit(std::size_t bytes) {
  ByAge evicted;
  {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    evict(bytes, evicted);
  }
  free_all(evicted);
}

std::size_t BlockPool::trim() noexcept {
  ByAge evicted;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    bytes = statistics_.kept_bytes;
    evict(0, evicted);
  }
  free_all(evicted);
  return bytes;
}

PoolStatistics BlockPool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void BlockPool::keep(std::byte* block, std::size_t size_class, std::size_t bytes) {
  auto* kept = ::new (block) Kept{{}, {}, bytes};
  kept->ByClass::join_after(classes_[size_class]);
  kept->ByAge::join_after(age_);
  statistics_.kept_bytes += bytes;
}

BlockPool::Kept& BlockPool::drop(Kept& block) {
  block.ByClass::leave();
  block.ByAge::leave();
  statistics_.kept_bytes -= block.bytes;
  return block;
}

void BlockPool::evict(std::size_t bytes, ByAge& ring) {
  while (statistics_.kept_bytes > bytes) {
    Kept& oldest = drop(static_cast<Kept&>(static_cast<ByAge&>(*age_.before)));
    oldest.ByAge::join_after(ring);
  }
}

void BlockPool::free_all(ByAge& ring) noexcept {
  while (!ring.alone()) {
    Link& block = *ring.after;
    block.leave();
    give(reinterpret_cast<std::byte*>(&static_cast<Kept&>(static_cast<ByAge&>(block))));
  }
}

std::size_t pool_limit(const char* text) {
  if (text == nullptr) return kRecycles ? kLimit : 0;
  std::size_t bytes = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, bytes);
  VERIFY(error == std::errc() && stop == end)
      << "LOCKSTEP_POOL_LIMIT is '" << text << "', which is not a number of bytes";
  return bytes;
}

BlockPool& pool() {
  static BlockPool& process_pool = *new BlockPool(pool_limit(std::getenv("LOCKSTEP_POOL_LIMIT")));
  return process_pool;
}

static_assert(BlockPool::kAlignment >= kMemoryAlignment);

void* acquire(std::size_t bytes, CpuDevice) { return pool().allocate(bytes); }

void release(void* memory, std::size_t bytes, CpuDevice) noexcept {
  pool().release(static_cast<std::byte*>(memory), bytes);
}

void copy_bytes(void* to, CpuDevice, const void* from, CpuDevice, std::size_t bytes) {
  // For no bytes the addresses may be null, which memcpy does not allow.
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace lockstep::ndarray
