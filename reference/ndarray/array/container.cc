#include "reference/ndarray/array/container.h"

#include <new>

#include "spec/shape.h"

namespace lockstep::ndarray {
namespace {

// Views come and go by the million, and the general allocator would take half of a view's time:
// each thread keeps a few blocks that it freed. They fit the ranks of all operators.
constexpr std::size_t kKeptRank = kMaxRank;
constexpr int kKeptBlocks = 32;

constexpr std::size_t block_bytes(std::size_t rank) {
  return sizeof(Container) + 2 * rank * sizeof(i64);
}

struct FreeBlock {
  FreeBlock* next;
};

struct FreeBlocks {
  FreeBlock* first;
  int room;  ///< for so many more
};

// Apart from its owner, because it is asked for even when the thread's objects are gone; in one
// piece, because a shared library looks a thread's variable up with a call.
thread_local FreeBlocks kept_blocks = {nullptr, 0};

/// Opens the list of a thread for as long as the thread's objects live.
struct FreeBlocksOwner {
  FreeBlocksOwner() { kept_blocks.room = kKeptBlocks; }
  ~FreeBlocksOwner() {
    kept_blocks.room = 0;
    while (kept_blocks.first != nullptr) {
      FreeBlock* block = kept_blocks.first;
      kept_blocks.first = block->next;
      ::operator delete(block);
    }
  }
  FreeBlocksOwner(const FreeBlocksOwner&) = delete;
  FreeBlocksOwner& operator=(const FreeBlocksOwner&) = delete;
};

void* acquire_block(std::size_t rank) {
  // A sanitizer sees a use after release only in memory that was really freed.
  if (kInstrumented || rank > kKeptRank) return ::operator new(block_bytes(rank));
  FreeBlocks& kept = kept_blocks;
  if (kept.first != nullptr) {
    FreeBlock* block = kept.first;
    kept.first = block->next;
    ++kept.room;
    return block;
  }
  thread_local const FreeBlocksOwner owner;
  return ::operator new(block_bytes(kKeptRank));
}

void release_block(void* memory, std::size_t rank) noexcept {
  FreeBlocks& kept = kept_blocks;
  if (rank > kKeptRank || kept.room == 0) return ::operator delete(memory);
  kept.first = ::new (memory) FreeBlock{kept.first};
  --kept.room;
}

}  // namespace

Container* Container::make(TypeCode type_code, void (*deleter)(Container*), DLDataType dtype,
                           DLDevice device, std::span<const i64> shape,
                           std::span<const i64> strides) {
  const std::size_t rank = shape.size();
  void* block = acquire_block(rank);
  // Field by field: the compiler zeroes a whole struct with an instruction slower than the rest.
  auto* self = ::new (block) Container;
  auto* numbers = reinterpret_cast<i64*>(self + 1);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    numbers[axis] = shape[axis];
    numbers[rank + axis] = strides[axis];
  }
  self->tensor = {.data = nullptr,
                  .device = device,
                  .ndim = static_cast<int>(rank),
                  .dtype = dtype,
                  .shape = numbers,
                  .strides = numbers + rank,
                  .byte_offset = 0};
  self->references.store(1, std::memory_order_relaxed);
  self->type_code = type_code;
  self->rank = static_cast<std::uint32_t>(rank);
  self->deleter = deleter;
  self->read_only = false;
  self->memory = nullptr;
  self->bytes = 0;
  self->device = device;
  self->owner = nullptr;
  self->release = nullptr;
  return self;
}

void Container::destroy(Container* self) noexcept {
  const std::size_t rank = self->rank;
  self->~Container();
  release_block(self, rank);
}

}  // namespace lockstep::ndarray
