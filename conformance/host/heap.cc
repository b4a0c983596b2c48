#include "conformance/host/heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "conformance/host/channel.h"
#include "containers/instrumented.h"

// The C library's own functions, which a program can still call when it replaces malloc and its
// kin.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace lockstep::judge::heap {
namespace {

// A process may have 65,530 mappings, and each slot takes two.
constexpr std::size_t kSlots = 16384, kSizes = 13;
constexpr u64 kAddresses = u64{64} << 30, kLargest = kPage << (kSizes - 1);
constexpr std::size_t kBefore = 2 * sizeof(u64);
constexpr std::size_t kChecked = kPage;  // bytes of a freed block, at most
constexpr std::size_t kRecent = 32;      // freed blocks that are checked after a call
// A build with a sanitizer keeps its own allocator, and uses neither this constant nor the
// functions marked [[maybe_unused]].
[[maybe_unused]] constexpr std::size_t kAlignment = alignof(std::max_align_t);

// Pages that serve one block after another, between inaccessible ones.
struct Slot {
  char *begin, *end;
  char* data;  // of the present block, or of the one freed last; nullptr: there was none
  std::size_t bytes;
  char poison;  // what bytes beside the block hold, or those of the freed one
  bool is_taken;
};

// The mutex guards everything but the blocks, each of which belongs to the thread that took it.
// Slots follow each other in memory. Nothing here allocates, or is destroyed before the process
// ends.
std::mutex mutex;
std::atomic<char*> region = nullptr;  // nullptr: no block is guarded
std::atomic<char> present_poison = 0;
u64 used_addresses = kPage;  // the page before the first slot guards it
Slot slots[kSlots];
std::size_t slot_count = 0;
std::uint16_t unused[kSizes][kSlots];  // slots of 1 << size pages without a block, as a stack
std::size_t unused_count[kSizes];
std::uint16_t recent[kRecent];  // slots whose blocks were freed last
std::size_t freed_count;
std::optional<Access> found;

bool is_here(const void* p) {
  const auto *at = static_cast<const char*>(p), *begin = region.load(std::memory_order_relaxed);
  return begin && at >= begin && at < begin + kAddresses;
}

// The mark before the block of a slot, which a write before the block changes.
std::array<u64, 2> mark_of(std::size_t slot) { return {slot, ~u64{slot}}; }

// The last slot that begins at or before an address of the region.
std::size_t slot_at(const char* at) {
  const Slot* after = std::upper_bound(
      slots, slots + slot_count, at, [](const char* a, const Slot& s) { return a < s.begin; });
  return after == slots ? 0 : static_cast<std::size_t>(after - slots) - 1;
}

// So many bytes of a freed block, and of those between it and the guard page, hold its poison.
std::size_t checked_bytes(const Slot& s) {
  return std::min(static_cast<std::size_t>(s.end - s.data), kChecked);
}

// Inlined where g++ knows that `n` is small, this becomes a string instruction, which is slower.
[[gnu::noinline]] void fill_bytes(char* data, char poison, std::size_t n) {
  std::memset(data, poison, n);
}

// Whether `n` bytes, whole words, hold a poison. A call of memcmp() takes longer beside a guard
// page, from which it reads some bytes to ignore them.
bool holds(const char* data, char poison, std::size_t n) {
  const u64 expected = ~u64{0} / 0xff * static_cast<unsigned char>(poison);
  for (std::size_t i = 0; i < n; i += sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, data + i, sizeof word);
    if (word != expected) return false;
  }
  return true;
}

// Notes a write into the freed block of a slot, and undoes it, so that no later call is blamed.
void check_freed(const Slot& s) {
  if (!s.data) return;
  const std::size_t n = checked_bytes(s);
  if (holds(s.data, s.poison, n)) return;
  const char* const wrong = std::find_if(s.data, s.data + n, [&](char c) { return c != s.poison; });
  if (!found) found = Access{s.bytes, wrong - s.data};
  fill_bytes(s.data, s.poison, n);
}

// A slot of 1 << size pages, or kSlots where there is none.
std::size_t slot_of(std::size_t size) {
  if (unused_count[size] > 0) {
    const std::size_t k = unused[size][--unused_count[size]];
    check_freed(slots[k]);
    return k;
  }
  const u64 bytes = kPage << size;
  char* const begin = region + used_addresses;
  if (slot_count == kSlots || used_addresses + bytes + kPage > kAddresses ||
      mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0)
    return kSlots;
  used_addresses += bytes + kPage;
  slots[slot_count] = {begin, begin + bytes, nullptr, 0, 0, false};
  return slot_count++;
}

// A guarded block, or nullptr where the C library has to allocate it.
[[maybe_unused]] void* take(std::size_t bytes, std::size_t alignment) {
  if (!region || alignment > kPage || bytes > kLargest) return nullptr;
  const u64 pages = round_up(bytes + alignment + kBefore, kPage) / kPage;
  const auto size = static_cast<std::size_t>(std::bit_width(pages - 1));
  if (size >= kSizes) return nullptr;
  Slot s;
  std::array<u64, 2> mark;
  {
    const std::lock_guard lock(mutex);
    const std::size_t k = slot_of(size);
    if (k == kSlots) return nullptr;
    slots[k].data = slots[k].end - round_up(bytes, alignment);
    slots[k].bytes = bytes;
    slots[k].poison = present_poison.load(std::memory_order_relaxed);
    slots[k].is_taken = true;
    s = slots[k];
    mark = mark_of(k);
  }
  std::memcpy(s.data - kBefore, mark.data(), kBefore);
  fill_bytes(s.data, s.poison, static_cast<std::size_t>(s.end - s.data));
  return s.data;
}

// A changed byte beside a slot's block; nothing if none was changed.
std::optional<Access> damage_of(const Slot& s, std::size_t k) {
  const auto mark = mark_of(k);
  const char* const before = s.data - kBefore;
  if (std::memcmp(before, mark.data(), kBefore) != 0) {
    const auto* const right = reinterpret_cast<const char*>(mark.data());
    return Access{s.bytes, std::mismatch(before, before + kBefore, right).first - s.data};
  }
  for (const char* at = s.end; at-- > s.data + s.bytes;)
    if (*at != s.poison) return Access{s.bytes, at - s.data};
  return {};
}

// The slot of a block, which may have spoilt the mark before it.
std::size_t slot_of_block(const char* data) {
  u64 k = 0;
  std::memcpy(&k, data - kBefore, sizeof k);
  if (k >= slot_count || slots[k].data != data) k = slot_at(data - 1);
  // Else it was freed before, or never allocated here.
  if (slots[k].data != data || !slots[k].is_taken) std::abort();
  return k;
}

[[maybe_unused]] void give_back(char* data) {
  const std::lock_guard lock(mutex);
  const std::size_t k = slot_of_block(data);
  Slot& s = slots[k];
  if (const auto beside = damage_of(s, k); beside && !found) found = beside;
  const auto pages = static_cast<u64>(s.end - s.begin) / kPage;
  const auto size = static_cast<std::size_t>(std::bit_width(pages - 1));
  s.is_taken = false;
  s.poison = static_cast<char>(~s.poison);
  fill_bytes(data, s.poison, checked_bytes(s));
  const auto slot = static_cast<std::uint16_t>(k);
  unused[size][unused_count[size]++] = slot;
  recent[freed_count++ % kRecent] = slot;
}

[[maybe_unused]] std::size_t bytes_of(char* data) {
  const std::lock_guard lock(mutex);
  return slots[slot_of_block(data)].bytes;
}

}  // namespace

void guard() {
  if (ndarray::kInstrumented) return;
  void* m =
      mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m != MAP_FAILED) region = static_cast<char*>(m);
}

void fill(char poison) { present_poison = poison; }

std::optional<Access> damage() {
  const std::lock_guard lock(mutex);
  for (const std::uint16_t k : recent)
    if (const Slot& s = slots[k]; !s.is_taken) check_freed(s);
  return std::exchange(found, {});
}

std::optional<Access> near(const char* address) {
  if (!is_here(address) || slot_count == 0) return {};
  const Slot& s = slots[slot_at(address)];
  if (!s.is_taken) return {};
  return Access{s.bytes, address - s.data};
}

}  // namespace lockstep::judge::heap

#if !defined(LOCKSTEP_THREAD_SANITIZER) && !defined(LOCKSTEP_MEMORY_SANITIZER)
namespace heap = lockstep::judge::heap;
#define LOCKSTEP_REPLACES extern "C" __attribute__((visibility("default")))

LOCKSTEP_REPLACES void* malloc(std::size_t bytes) noexcept {
  void* p = heap::take(bytes, heap::kAlignment);
  return p ? p : __libc_malloc(bytes);
}
LOCKSTEP_REPLACES void free(void* p) noexcept {
  if (heap::is_here(p)) return heap::give_back(static_cast<char*>(p));
  __libc_free(p);
}
LOCKSTEP_REPLACES void* calloc(std::size_t n, std::size_t each) noexcept {
  std::size_t bytes = 0;
  void* p = __builtin_mul_overflow(n, each, &bytes) ? nullptr : heap::take(bytes, heap::kAlignment);
  return p ? std::memset(p, 0, bytes) : __libc_calloc(n, each);
}
LOCKSTEP_REPLACES void* realloc(void* p, std::size_t bytes) noexcept {
  if (!p) return malloc(bytes);
  if (!heap::is_here(p)) return __libc_realloc(p, bytes);
  void* const q = bytes > 0 ? malloc(bytes) : nullptr;
  if (q) std::memcpy(q, p, std::min(bytes, heap::bytes_of(static_cast<char*>(p))));
  if (q || bytes == 0) free(p);
  return q;
}
LOCKSTEP_REPLACES void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  void* p = std::has_single_bit(alignment)
      ? heap::take(bytes, std::max(alignment, heap::kAlignment))
      : nullptr;
  return p ? p : __libc_memalign(alignment, bytes);
}
LOCKSTEP_REPLACES void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return memalign(alignment, bytes);
}
LOCKSTEP_REPLACES int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const p = memalign(alignment, bytes);
  if (p) *to = p;
  return p ? 0 : ENOMEM;
}
LOCKSTEP_REPLACES void* valloc(std::size_t bytes) noexcept {
  return memalign(lockstep::judge::kPage, bytes);
}
LOCKSTEP_REPLACES void* pvalloc(std::size_t bytes) noexcept {
  return memalign(lockstep::judge::kPage, lockstep::judge::round_up(bytes, lockstep::judge::kPage));
}
LOCKSTEP_REPLACES std::size_t malloc_usable_size(void* p) noexcept {
  if (heap::is_here(p)) return heap::bytes_of(static_cast<char*>(p));
  using Function = std::size_t (*)(void*);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return next(p);
}
#endif
