#include "containers/tests/counted_memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

std::atomic<std::size_t> counted{0};
constexpr std::size_t kNever = SIZE_MAX;
thread_local std::size_t until_failure = kNever;

bool is_to_fail() noexcept { return until_failure != kNever && until_failure-- == 0; }

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  counted += size;
  if (is_to_fail()) return nullptr;
  return std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
}

void* allocate(std::size_t size, std::size_t alignment) {
  void* memory = allocate_or_null(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Not inlined: g++ would see `new` beside `free` and take it for a mistake.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
// A sanitizer's own would not end up in those above, as the library's do.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

std::size_t lockstep::allocated_bytes() { return counted; }

void lockstep::fail_allocation(std::size_t number) { until_failure = number; }

bool lockstep::allocation_failed() { return std::exchange(until_failure, kNever) == kNever; }
