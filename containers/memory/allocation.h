/// @file
/// A piece of a device's memory that has one owner.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "containers/memory/device.h"

namespace lockstep::ndarray {

/// Memory of a device, given back when this ends. Its contents are not initialized.
template <class Device> class Allocation {
 public:
  /// What ends a loan; called once, with the address that was lent. It must not throw.
  using Deleter = std::function<void(void*)>;

  /// No memory.
  Allocation() = default;

  /// Takes `size` bytes, aligned to kMemoryAlignment; for 0 bytes the address is null.
  Allocation(std::size_t size, Device device)
      : ptr_(size == 0 ? nullptr : acquire(size, device)), size_(size), device_(device) {}

  /// Borrows memory. An empty deleter leaves it with its lender, who must then outlive this.
  Allocation(void* ptr, std::size_t size, Device device, Deleter deleter)
      : ptr_(ptr), size_(size), device_(device), borrowed_(true), deleter_(std::move(deleter)) {}

  ~Allocation() { reset(); }

  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  /// Takes the memory; `other` has none afterwards.
  Allocation(Allocation&& other) noexcept { swap(other); }
  /// Gives its own memory back and takes the other's.
  Allocation& operator=(Allocation&& other) noexcept {
    Allocation(std::move(other)).swap(*this);
    return *this;
  }

  /// The first byte; null for no memory.
  void* ptr() const { return ptr_; }
  /// One byte past the last.
  void* end() const { return static_cast<std::byte*>(ptr_) + size_; }
  /// In bytes.
  std::size_t size() const { return size_; }
  /// Where the memory is.
  Device device() const { return device_; }

  /// Exchanges the memory.
  void swap(Allocation& other) noexcept {
    std::swap(ptr_, other.ptr_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
    std::swap(borrowed_, other.borrowed_);
    deleter_.swap(other.deleter_);
  }

 private:
  void reset() noexcept {
    if (borrowed_) {
      if (deleter_) deleter_(ptr_);
    } else if (ptr_ != nullptr) {
      release(ptr_, size_, device_);
    }
  }

  void* ptr_ = nullptr;
  std::size_t size_ = 0;
  Device device_{};
  bool borrowed_ = false;
  Deleter deleter_;
};

}  // namespace lockstep::ndarray
