/// @file
/// A CUDA device as the backend uses it. Every failure is an exception that names the call that
/// failed, the error and its text.
#pragma once
#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace lockstep::cuda {

/// @throws std::runtime_error "<call>: <name of the error> (<its text>)" unless the call succeeded.
void check(cudaError_t error, const char* call);

/// How many devices there are. @throws std::runtime_error where there is no driver to ask.
int device_count();

/// One device, its streams and its allocated memory. Several threads may use it at once, but only
/// the process that made it: CUDA does not survive a fork.
class Device {
 public:
  /// @throws std::runtime_error with a sentence about what is missing.
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
  /// Runs f on this device. @throws what f throws, and notes whether the device is lost.
  template <class F>
  void use(const F& f) {
    enter();
    try {
      f();
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
  const pid_t owner_;
  cudaStream_t copies_ = nullptr;
  cudaStream_t streams_[kStreams]{};
  std::atomic<unsigned> turn_{0};
  std::mutex mutex_;   // guards what follows
  std::string fault_;  // the error after which this process cannot use the device
};

}  // namespace lockstep::cuda
