/// @file
/// What the backend, the arrays and the judge's witness share of the CUDA runtime: its memory, and
/// its errors as text.
/// Only here does an error become text, and only here is memory acquired, released and copied.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace lockstep::cuda {

/// A version as the runtime counts them, 12040, in its usual spelling, "12.4".
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// What to do about an error, where the runtime's own text does not say it.
inline const char* advice(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "; the device's memory is full: end other programs on it, or choose another device";
    case cudaErrorNoKernelImageForDevice:
      return "; this build has no code for the device: build it with CMAKE_CUDA_ARCHITECTURES set "
             "to its compute capability";
    case cudaErrorUnsupportedPtxVersion:
      return "; the driver cannot translate this build for the device: install a newer driver";
    default: return "";
  }
}

/// One sentence about a call that failed: the runtime's own name and text for the error, and what
/// to do.
inline std::string failure_text(cudaError_t error, const char* call) {
  if (error != cudaErrorInsufficientDriver)
    return std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) +
        ")" + advice(error);
  // The runtime has one error for a driver that is missing and for one that is too old.
  int driver = 0;
  const bool is_missing = cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
  const std::string found = is_missing
      ? std::string("no NVIDIA driver here (") + call + " finds none)"
      : "the NVIDIA driver is too old (" + std::string(call) + " fails): it is for CUDA " +
          version_text(driver);
  return found + "; install one for CUDA " + version_text(CUDART_VERSION) + " or newer";
}

/// The device's memory is full. It is no fault of the program that asks, as where the host's is.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// @throws std::runtime_error with failure_text() unless the call succeeded, or OutOfMemory. The
///         runtime keeps an error until it is asked for; the next caller is not told of this one.
inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(failure_text(error, call));
  throw std::runtime_error(failure_text(error, call));
}

/// How many devices there are; 0 is an answer.
/// @throws std::runtime_error where the driver is missing or too old.
inline int device_count() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice) return 0;
  check(error, "cudaGetDeviceCount");
  return count;
}

/// The same. @throws std::runtime_error where there is none, too.
inline int require_device() {
  const int count = device_count();
  if (count == 0)
    throw std::runtime_error(
        "no NVIDIA device here (cudaGetDeviceCount finds none): nvidia-smi lists those of the "
        "machine, CUDA_VISIBLE_DEVICES those of this process");
  return count;
}

/// Memory of the current device, aligned to at least kAlignment bytes; an address for 0 bytes too.
inline constexpr std::size_t kAlignment = 256;
inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes), "cudaMalloc");
  return memory;
}

/// Gives memory back, whichever device is current. What fails here has failed before, where it
/// could be said, or belongs to a runtime that is being shut down.
inline void release(void* memory) noexcept { static_cast<void>(cudaFree(memory)); }

/// A stream that waits for no other one.
inline cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

inline void wait(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/// Copies in the order of a stream. From pageable host memory, CUDA has taken its own copy when
/// this returns.
inline void send(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

/// Copies, and returns when the last byte has arrived. A plain cudaMemcpy may return before that.
inline void copy(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  send(to, from, bytes, kind, stream);
  wait(stream);
}

}  // namespace lockstep::cuda
