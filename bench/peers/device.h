/// @file
/// A CUDA device, as the modules of libraries for it use one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cuda/runtime.h"

namespace lockstep::bench {

/// Whether there is a device; without one its libraries are no peers.
inline bool has_device() {
  try {
    return cuda::device_count() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

/// Memory of the device, filled from the host where values are given.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes), data_(cuda::allocate(bytes)) {}
  template <class T> explicit DeviceBuffer(const std::vector<T>& values)
      : DeviceBuffer(values.size() * sizeof(T)) {
    cuda::check(
        cudaMemcpy(data_.get(), values.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  template <class T> std::vector<T> read() const {
    std::vector<T> values(bytes_ / sizeof(T));
    cuda::check(
        cudaMemcpy(values.data(), data_.get(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }
  void* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Release {
    void operator()(void* memory) const { cuda::release(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<void, Release> data_;
};

/// A stream of its own.
class DeviceStream {
 public:
  DeviceStream() = default;
  DeviceStream(const DeviceStream&) = delete;
  ~DeviceStream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)
  void wait() const { cuda::wait(stream_); }

 private:
  cudaStream_t stream_ = cuda::make_stream();
};

}  // namespace lockstep::bench
