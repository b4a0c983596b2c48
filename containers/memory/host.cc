#include <cstring>

#include "containers/memory/device.h"
#include "containers/memory/pool.h"

namespace lockstep::ndarray {

static_assert(Pool::kAlignment >= kMemoryAlignment);

void* acquire(std::size_t bytes, CpuDevice) { return pool().allocate(bytes); }

void release(void* memory, std::size_t bytes, CpuDevice) noexcept {
  pool().release(static_cast<std::byte*>(memory), bytes);
}

void copy_bytes(void* to, CpuDevice, const void* from, CpuDevice, std::size_t bytes) {
  // For no bytes the addresses may be null, which memcpy does not allow.
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace lockstep::ndarray
