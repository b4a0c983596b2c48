#include "reference/ndarray/tests/counted_memory.h"

#include <cstdlib>
#include <new>

namespace {

std::size_t counted = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  counted += size;
  const std::size_t rounded = (size / alignment + 1) * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
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
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

std::size_t lockstep::allocated_bytes() { return counted; }
