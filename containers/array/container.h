/// @file
/// What an NDArray points to: a DLTensor, the number of references, and how to release its memory.
#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "containers/instrumented.h"

namespace lockstep::ndarray {

/// A DLTensor with an owner. The tensor comes first, so that the address of a container is that of
/// its DLTensor, which is all that C programs hold. Shape and strides, which it always has, follow
/// the struct in the same block of memory.
struct Container {
  /// Who owns the memory.
  enum class TypeCode : std::int32_t {
    kOwned = 0,    ///< this container's own, from acquire()
    kAdopted = 1,  ///< somebody else's, who is told when this container ends
    kView = 2,     ///< another container's, which this one keeps alive
  };

  DLTensor tensor;                       ///< what C programs see
  std::atomic<std::int32_t> references;  ///< NDArrays and views that hold this container
  TypeCode type_code;                    ///< who owns the memory
  /// Called when the last reference is gone.
  void (*deleter)(Container* self);

  std::uint32_t rank;  ///< that the block has room for; a C program may change the tensor's own
  bool read_only;      ///< nobody may write to the memory, however few refer to it
  std::byte* memory;   ///< of the owner: the block in which all elements lie; views share it
  std::size_t bytes;   ///< its length
  DLDevice device;     ///< where it is; kept apart from the tensor, which C programs can write to
  void* owner;         ///< of a view the container with the memory, else the argument of `release`
  /// Of foreign memory: called once, when nobody uses it any more; may be null.
  void (*release)(void* owner);

  /// A container with one reference and without elements; the caller sets the memory and its owner.
  /// @throws std::bad_alloc
  static Container* make(TypeCode type_code, void (*deleter)(Container*), DLDataType dtype,
      DLDevice device, std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
  /// Frees the container and not the memory of its elements.
  static void destroy(Container* self) noexcept;
  /// Memory for a container and the numbers of a rank, and back.
  static void* acquire_block(std::size_t rank);
  /// Gives back what acquire_block() returned for this rank.
  static void release_block(void* block, std::size_t rank) noexcept;

  /// Adds one reference.
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }

  /// Drops one reference. The release pairs with an acquire before the deletion, so that every
  /// thread's writes to the memory happen before it. The only reference is dropped without a locked
  /// write, which saves a quarter of a view's time: no other thread holds one that it could copy.
  void drop() noexcept {
    if (references.load(std::memory_order_acquire) == 1) return deleter(this);
    if (references.fetch_sub(1, std::memory_order_release) != 1) return;
    if constexpr (kThreadSanitizer) {
      // The sanitizer does not understand fences, but does understand a load of the same number.
      static_cast<void>(references.load(std::memory_order_acquire));
    } else {
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    deleter(this);
  }

  /// The container that owns the memory.
  Container* root() { return type_code == TypeCode::kView ? static_cast<Container*>(owner) : this; }

  /// Whether no other container and no other reference reaches the memory. If so, everything that
  /// former holders did to it happened before this call.
  bool is_exclusive() {
    return references.load(std::memory_order_acquire) == 1 &&
        (type_code != TypeCode::kView || root()->references.load(std::memory_order_acquire) == 1);
  }
};

// Inline, because a call with six arguments would take a tenth of the time of a view.
inline Container* Container::make(TypeCode type_code, void (*deleter)(Container*), DLDataType dtype,
    DLDevice device, std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  const std::size_t rank = shape.size();
  void* block = acquire_block(rank);
  // Field by field: the compiler zeroes a whole struct with an instruction slower than the rest.
  auto* self = ::new (block) Container;
  auto* numbers = reinterpret_cast<std::int64_t*>(self + 1);
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

inline void Container::destroy(Container* self) noexcept {
  const std::size_t rank = self->rank;
  self->~Container();
  release_block(self, rank);
}

static_assert(std::is_standard_layout_v<Container>);
static_assert(offsetof(Container, tensor) == 0);

}  // namespace lockstep::ndarray
