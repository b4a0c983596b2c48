/// @file
/// Scratch memory where a backend has its memory, on a device or not.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "backends/client.hpp"
#include "spec/random.h"

namespace lockstep::judge {

/// Between guards and full of poison.
class DeviceScratch {
 public:
  /// Takes the memory from a backend.
  client::Status take(const client::Backend& backend, uint64_t bytes, i32 poison) {
    content_.assign(static_cast<std::size_t>(bytes / sizeof poison + 1) + 2 * kGuard, poison);
    client::Result<client::Memory> memory = backend.allocate(content_.size() * sizeof poison);
    if (!memory.ok()) return memory.status();
    memory_.emplace(std::move(*memory));
    bytes_ = static_cast<std::size_t>(bytes);
    return memory_->write(content_.data(), content_.size() * sizeof poison);
  }
  /// Its address there; nullptr: none was taken.
  void* data() const {
    return memory_ ? static_cast<char*>(memory_->data()) + kGuard * sizeof(i32) : nullptr;
  }
  /// Compares the guards. @return whether they can be read; `is_intact` receives whether they are
  /// unchanged
  client::Status compare(bool& is_intact) const {
    if (!memory_) return {};
    std::vector<i32> now(content_.size());
    client::Status status = memory_->read(now.data(), now.size() * sizeof(i32));
    const auto is_same = [&](std::size_t first, std::size_t last) {
      const auto* const from = reinterpret_cast<const char*>(content_.data());
      return std::equal(
          from + first, from + last, reinterpret_cast<const char*>(now.data()) + first);
    };
    constexpr std::size_t kBefore = kGuard * sizeof(i32);
    is_intact = !status.ok() ||
        (is_same(0, kBefore) && is_same(kBefore + bytes_, content_.size() * sizeof(i32)));
    return status;
  }

 private:
  static constexpr std::size_t kGuard = 64;  // words, so that what follows is as aligned as before
  std::vector<i32> content_;
  std::optional<client::Memory> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::judge
