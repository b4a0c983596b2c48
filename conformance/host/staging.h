/// @file
/// The tensors of an execution where the backend computes: on the host or on its device.
#pragma once
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "backends/client.hpp"
#include "conformance/host/arena.h"

namespace lockstep::judge {

/// The tensors of an execution, copied to the backend's device where it has one. Whole regions are
/// copied, so that the judge also sees what a kernel writes beside a tensor.
class Staging {
 public:
  Staging(const client::Backend& backend, const Arena& arena, std::span<const Slot> slots)
      : backend_(backend), arena_(arena), slots_(slots) {
    for (std::size_t k = 0; k < slots.size(); ++k) data_.push_back(arena.seen(k) + slots[k].first);
  }
  Staging(const Staging&) = delete;
  client::Status upload() {
    for (std::size_t k = 0; backend_.library().has_device() && k < data_.size(); ++k) {
      client::Result<client::Memory> memory = backend_.allocate(slots_[k].bytes);
      if (!memory.ok()) return memory.status();
      device_.push_back(std::move(*memory));
      client::Status written = device_[k].write(arena_.own(k), slots_[k].bytes);
      if (!written.ok()) return written;
      data_[k] = static_cast<char*>(device_[k].data()) + slots_[k].first;
    }
    return {};
  }
  client::Status download() {
    client::Status status;
    for (std::size_t k = 0; k < device_.size() && status.ok(); ++k) status = read(k);
    return status;
  }
  /// Replaces the memory of tensor `k`.
  client::Status write(std::size_t k, const char* from) {
    std::memcpy(arena_.own(k), from, slots_[k].bytes);
    return device_.empty() ? client::Status{} : device_[k].write(from, slots_[k].bytes);
  }
  /// Makes what the backend wrote to tensor `k` visible in host memory.
  client::Status read(std::size_t k) const {
    return device_.empty() ? client::Status{} : device_[k].read(arena_.own(k), slots_[k].bytes);
  }
  /// The addresses of tensors from number `first` on.
  char* const* data(std::size_t first = 0) const { return data_.data() + first; }

 private:
  const client::Backend& backend_;
  const Arena& arena_;
  std::span<const Slot> slots_;
  std::vector<char*> data_;
  std::vector<client::Memory> device_;
};

}  // namespace lockstep::judge
