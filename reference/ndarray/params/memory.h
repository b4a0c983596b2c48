/// @file
/// Memory for the data of one tensor.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace lockstep::params {

/// Memory that its last owner frees, aligned for the widest vectors; null for no bytes.
inline std::shared_ptr<std::byte> tensor_memory(std::size_t size) {
  constexpr std::align_val_t kAlignment{64};
  if (size == 0) return {};
  return {static_cast<std::byte*>(::operator new(size, kAlignment)),
          [](std::byte* memory) { ::operator delete(memory, kAlignment); }};
}

}  // namespace lockstep::params
