/// @file
/// A CUDA device as the backend uses it. Every failure is an exception that names the call that
/// failed.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "cuda/runtime.h"

namespace lockstep::cuda {

/// One device, its streams and its allocated memory. Usable from several threads at once, but only
/// in the process that made it, because CUDA does not survive a fork.
class Device {
 public:
  /// @throws std::runtime_error naming what is missing.
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void* alloc(uint64_t bytes, uint64_t align);
  void free(void* memory) noexcept;
  void upload(void* device, const void* host, uint64_t bytes);
  void download(void* host, const void* device, uint64_t bytes);
  /// One of a few streams, in turn.
  cudaStream_t stream();
  void wait(cudaStream_t stream);
  /// Copies to the device in the order of the stream. The caller may change its memory at once.
  void send(void* device, const void* host, uint64_t bytes, cudaStream_t stream);
  /// Runs f(stream) and waits for what it has started there.
  template <class F> void use_at_once(const F& f) {
    use([&] {
      f(copies_);
      cuda::wait(copies_);
    });
  }
  /// Records what f(stream) starts, so that replay() can start it again. @throws what f throws
  cudaGraphExec_t record(const std::function<void(cudaStream_t)>& f);
  void replay(cudaGraphExec_t run, cudaStream_t stream);
  void drop(cudaGraphExec_t run) noexcept;
  /// How many multiprocessors it has.
  int processors() const { return processors_; }
  /// Runs f on this device. @throws what f throws, and notes whether the device is lost.
  template <class F> void use(const F& f) {
    enter();
    try {
      f();
    } catch (const std::bad_alloc&) {
      throw;  // a lack of memory loses no device
    } catch (const std::exception& e) {
      leave(e.what());
    }
  }

 private:
  static constexpr int kStreams = 4;

  void enter();
  [[noreturn]] void leave(const std::string& failure);
  void copy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);

  const int index_;
  int processors_ = 1;
  const pid_t owner_;
  cudaStream_t copies_ = nullptr;
  cudaStream_t streams_[kStreams]{};
  std::atomic<unsigned> turn_{0};
  std::mutex mutex_;   // guards the members below
  std::string fault_;  // the error after which this process cannot use the device
};

/// Memory of a device that a plan keeps.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<Device> device, uint64_t bytes)
      : device_(std::move(device)), memory_(device_->alloc(bytes, kAlignment)) {}
  ~DeviceMemory() { device_->free(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* get() const { return memory_; }

 private:
  std::shared_ptr<Device> device_;
  void* memory_;
};

}  // namespace lockstep::cuda
