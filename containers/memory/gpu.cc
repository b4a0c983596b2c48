// Memory of CUDA devices. Every failure names the call that failed.
#include <string>

#include "containers/logging.h"
#include "containers/memory/device.h"
#include "cuda/runtime.h"

namespace lockstep::ndarray {
namespace {

/// Runs f; where CUDA fails, that is the machine's fault.
/// @throws utils::LogMessageFatal, or utils::OutOfMemory
template <class F> void on_machine(const F& f) {
  try {
    f();
  } catch (const cuda::OutOfMemory& e) {
    throw utils::OutOfMemory(std::string("no GPU memory: ") + e.what());
  } catch (const std::runtime_error& e) {
    throw utils::LogMessageFatal(std::string("no GPU memory: ") + e.what());
  }
}

/// Makes a device the calling thread's current one for as long as this lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(GpuDevice device) {
    const int count = cuda::require_device();
    VERIFY(0 <= device.device_id && device.device_id < count)
        << "there is no GPU " << device.device_id << " here: there are " << count
        << ", counted from 0";
    cuda::check(cudaGetDevice(&before_), "cudaGetDevice");
    cuda::check(cudaSetDevice(device.device_id), "cudaSetDevice");
  }
  // A destructor cannot report an error, and the device was current before.
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

class Stream {
 public:
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = cuda::make_stream();
};

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, GpuDevice device) {
  if (bytes == 0) return;
  on_machine([&] {
    const CurrentDevice current(device);
    const Stream stream;
    cuda::copy(to, from, bytes, kind, stream.get());
  });
}

}  // namespace

void* acquire(std::size_t bytes, GpuDevice device) {
  void* memory = nullptr;
  on_machine([&] {
    const CurrentDevice current(device);
    memory = cuda::allocate(bytes);
  });
  return memory;
}

void release(void* memory, std::size_t, GpuDevice) noexcept { cuda::release(memory); }

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
