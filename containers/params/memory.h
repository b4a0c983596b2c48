/// @file
/// Memory for the data of one tensor.
#pragma once

#include <cstddef>
#include <memory>

#include "containers/memory/pool.h"

namespace lockstep::params {

/// Memory of the pool that its last owner gives back; null for no bytes.
inline std::shared_ptr<std::byte> tensor_memory(std::size_t size) {
  if (size == 0) return {};
  return {ndarray::pool().allocate(size),
          [size](std::byte* memory) { ndarray::pool().release(memory, size); }};
}

}  // namespace lockstep::params
