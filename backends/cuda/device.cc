#include "backends/cuda/device.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace lockstep::cuda {
namespace {

// What cudaMalloc promises at least.
constexpr uint64_t kAlignment = 256;

}  // namespace

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(error) + " (" +
                           cudaGetErrorString(error) + ")");
}

int device_count() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice) return 0;
  check(error, "cudaGetDeviceCount");
  return count;
}

Device::Device(int index) : index_(index), owner_(getpid()) {
  int count = 0;
  try {
    count = device_count();
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string("no usable NVIDIA driver here: ") + e.what());
  }
  if (count == 0) throw std::runtime_error("no NVIDIA device here (cudaGetDeviceCount finds none)");
  if (index >= count)
    throw std::runtime_error("no device " + std::to_string(index) + " here: there are " +
                             std::to_string(count) + ", counted from 0");
  use([&] {
    check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (cudaStream_t& s : streams_)
      check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  });
}

Device::~Device() {
  // In a forked process the streams belong to its parent; after a fault they no longer exist.
  if (getpid() != owner_ || cudaSetDevice(index_) != cudaSuccess) return;
  for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  cudaStreamDestroy(copies_);
}

// CUDA has a current device per thread, and any thread may call.
void Device::enter() {
  if (getpid() != owner_)
    throw std::runtime_error("the device was opened in another process; CUDA survives no fork");
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.empty())
      throw std::runtime_error("the device was lost to this process by: " + fault_);
  }
  check(cudaSetDevice(index_), "cudaSetDevice");
}

// An error that remains after it was read belongs to the context: every later call fails too.
void Device::leave(const std::string& failure) {
  static_cast<void>(cudaGetLastError());
  if (cudaDeviceSynchronize() == cudaSuccess) throw std::runtime_error(failure);
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) fault_ = failure;
  throw std::runtime_error(failure + "; this process has lost the device");
}

void* Device::alloc(uint64_t bytes, uint64_t align) {
  if (align > kAlignment)
    throw std::runtime_error("memory aligned to " + std::to_string(align) + " bytes; there is " +
                             std::to_string(kAlignment));
  void* memory = nullptr;
  // cudaMalloc gives no address for 0 bytes.
  use([&] { check(cudaMalloc(&memory, std::max<uint64_t>(bytes, 1)), "cudaMalloc"); });
  return memory;
}

void Device::free(void* memory) noexcept {
  // An error here was reported by an earlier call; a destructor cannot report it.
  if (getpid() == owner_ && cudaSetDevice(index_) == cudaSuccess) cudaFree(memory);
}

// CUDA copies pageable memory through a buffer, and a plain cudaMemcpy may return before the last
// bytes arrived. A copy on a stream of its own can be waited for.
void Device::copy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
  use([&] {
    check(cudaMemcpyAsync(to, from, bytes, kind, copies_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(copies_), "cudaStreamSynchronize");
  });
}

void Device::upload(void* device, const void* host, uint64_t bytes) {
  copy(device, host, bytes, cudaMemcpyHostToDevice);
}

void Device::download(void* host, const void* device, uint64_t bytes) {
  copy(host, device, bytes, cudaMemcpyDeviceToHost);
}

cudaStream_t Device::stream() { return streams_[turn_++ % kStreams]; }

void Device::wait(cudaStream_t stream) {
  use([&] { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); });
}

// From pageable memory: CUDA has taken its own copy when the call returns.
void Device::send(void* device, const void* host, uint64_t bytes, cudaStream_t stream) {
  use([&] {
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  });
}

}  // namespace lockstep::cuda
