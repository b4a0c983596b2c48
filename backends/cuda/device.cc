#include "backends/cuda/device.h"

#include <unistd.h>

#include <stdexcept>

namespace lockstep::cuda {

Device::Device(int index) : index_(index), owner_(getpid()) {
  const int count = require_device();
  if (index >= count)
    throw std::runtime_error("no device " + std::to_string(index) + " here: there are " +
        std::to_string(count) + ", counted from 0");
  use([&] {
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, index),
        "cudaDeviceGetAttribute");
    copies_ = make_stream();
    for (cudaStream_t& s : streams_) s = make_stream();
  });
}

Device::~Device() {
  // In a forked process the streams belong to its parent; after a fault they no longer exist.
  if (getpid() != owner_ || cudaSetDevice(index_) != cudaSuccess) return;
  for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  cudaStreamDestroy(copies_);
}

// CUDA has a current device per thread, and any thread may call the backend.
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

// An error that remains after it was read is one of the context: every later call fails, too.
void Device::leave(const std::string& failure) {
  const cudaError_t remaining = cudaDeviceSynchronize();
  // A stream that is being recorded cannot be waited for, and has not run anything.
  if (remaining == cudaSuccess || remaining == cudaErrorStreamCaptureUnsupported)
    throw std::runtime_error(failure);
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) fault_ = failure;
  throw std::runtime_error(failure + "; this process has lost the device, another one may use it");
}

void* Device::alloc(uint64_t bytes, uint64_t align) {
  if (align > kAlignment)
    throw std::runtime_error("memory aligned to " + std::to_string(align) + " bytes; there is " +
        std::to_string(kAlignment));
  void* memory = nullptr;
  use([&] { memory = allocate(bytes); });
  return memory;
}

void Device::free(void* memory) noexcept {
  if (getpid() == owner_ && cudaSetDevice(index_) == cudaSuccess) release(memory);
}

// Uses a stream of its own, so that it can wait for the copy.
void Device::copy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
  use([&] { cuda::copy(to, from, bytes, kind, copies_); });
}

void Device::upload(void* device, const void* host, uint64_t bytes) {
  copy(device, host, bytes, cudaMemcpyHostToDevice);
}

void Device::download(void* host, const void* device, uint64_t bytes) {
  copy(host, device, bytes, cudaMemcpyDeviceToHost);
}

cudaStream_t Device::stream() { return streams_[turn_++ % kStreams]; }

void Device::wait(cudaStream_t stream) {
  use([&] { cuda::wait(stream); });
}

namespace {

/// A stream that records.
class Recorder {
 public:
  Recorder() = default;
  ~Recorder() {
    if (is_recording_) cudaStreamEndCapture(stream_, &graph_);
    if (graph_) cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  cudaStream_t begin() {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    is_recording_ = true;
    return stream_;
  }
  cudaGraphExec_t end() {
    is_recording_ = false;
    check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture");
    cudaGraphExec_t run = nullptr;
    check(cudaGraphInstantiate(&run, graph_, 0), "cudaGraphInstantiate");
    return run;
  }

 private:
  cudaStream_t stream_ = make_stream();
  cudaGraph_t graph_ = nullptr;
  bool is_recording_ = false;
};

}  // namespace

cudaGraphExec_t Device::record(const std::function<void(cudaStream_t)>& f) {
  cudaGraphExec_t run = nullptr;
  use([&] {
    Recorder recorder;
    f(recorder.begin());
    run = recorder.end();
  });
  return run;
}

void Device::replay(cudaGraphExec_t run, cudaStream_t stream) {
  use([&] { check(cudaGraphLaunch(run, stream), "cudaGraphLaunch"); });
}

void Device::drop(cudaGraphExec_t run) noexcept {
  if (getpid() == owner_ && cudaSetDevice(index_) == cudaSuccess) cudaGraphExecDestroy(run);
}

void Device::send(void* device, const void* host, uint64_t bytes, cudaStream_t stream) {
  use([&] { cuda::send(device, host, bytes, cudaMemcpyHostToDevice, stream); });
}

}  // namespace lockstep::cuda
