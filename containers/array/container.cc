#include "containers/array/container.h"

#include <new>

#include "spec/shape.h"

namespace lockstep::ndarray {
namespace {

// Programs make views by the million, and the general allocator would take half of a view's time.
// Each thread therefore keeps a few blocks that it freed. They fit the ranks of all operators.
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
  int room;  ///< how many more blocks fit
};

// It is not a member of its owner, because views need it even after the thread's objects are gone.
// It is one variable, because a shared library needs a call to find each thread-local one.
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

}  // namespace

void* Container::acquire_block(std::size_t rank) {
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

void Container::release_block(void* memory, std::size_t rank) noexcept {
  FreeBlocks& kept = kept_blocks;
  if (rank > kKeptRank || kept.room == 0) return ::operator delete(memory);
  kept.first = ::new (memory) FreeBlock{kept.first};
  --kept.room;
}

}  // namespace lockstep::ndarray
