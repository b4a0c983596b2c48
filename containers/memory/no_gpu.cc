// Stands for the GPU's memory in a build without the CUDA toolkit.
#include "containers/logging.h"
#include "containers/memory/device.h"

namespace lockstep::ndarray {
namespace {

[[noreturn]] void missing() {
  throw utils::LogMessageFatal("no GPU memory: this build was made without the CUDA toolkit");
}

}  // namespace

void* acquire(std::size_t, GpuDevice) { missing(); }

// acquire() never succeeds, so there is nothing to release.
void release(void*, std::size_t, GpuDevice) noexcept {}

void copy_bytes(void*, GpuDevice, const void*, CpuDevice, std::size_t) { missing(); }
void copy_bytes(void*, CpuDevice, const void*, GpuDevice, std::size_t) { missing(); }
void copy_bytes(void*, GpuDevice, const void*, GpuDevice, std::size_t) { missing(); }

}  // namespace lockstep::ndarray
