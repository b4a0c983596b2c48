// Memory of CUDA devices. Every failure names the call that failed, the error and its text.
#include <cuda_runtime_api.h>

#include <string>

#include "reference/ndarray/logging.h"
#include "reference/ndarray/memory/device.h"

namespace lockstep::ndarray {
namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  // The runtime keeps an error until somebody reads it; the next caller must not get this one.
  static_cast<void>(cudaGetLastError());
  throw utils::LogMessageFatal(std::string(call) + ": " + cudaGetErrorName(error) + " (" +
                               cudaGetErrorString(error) + ")");
}

/// Makes a device the calling thread's current one for as long as this lives.
class Current {
 public:
  explicit Current(GpuDevice device) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    CHECK(error != cudaErrorNoDevice) << "no GPU memory: there is no NVIDIA device here";
    check(error, "cudaGetDeviceCount");
    VERIFY(0 <= device.device_id && device.device_id < count)
        << "there is no GPU " << device.device_id << " here: there are " << count
        << ", counted from 0";
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device.device_id), "cudaSetDevice");
  }
  // A destructor cannot report an error, and the device was current before.
  ~Current() { static_cast<void>(cudaSetDevice(before_)); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = 0;
};

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// A plain cudaMemcpy may return before the last byte has arrived; a stream can be waited for.
void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, GpuDevice device) {
  if (bytes == 0) return;
  const Current current(device);
  const Stream stream;
  check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

}  // namespace

void* acquire(std::size_t bytes, GpuDevice device) {
  const Current current(device);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

void release(void* memory, std::size_t, GpuDevice) noexcept {
  // The memory knows its device, whichever is current. An error here was reported by an earlier
  // call, or the runtime is shutting down.
  static_cast<void>(cudaFree(memory));
}

void copy_bytes(void* to, GpuDevice device, const void* from, CpuDevice, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyHostToDevice, device);
}

void copy_bytes(void* to, CpuDevice, const void* from, GpuDevice device, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToHost, device);
}

// Addresses are unified: the runtime sees which device each of them belongs to.
void copy_bytes(void* to, GpuDevice device, const void* from, GpuDevice, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToDevice, device);
}

}  // namespace lockstep::ndarray
