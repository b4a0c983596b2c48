// What a call does when the CUDA runtime fails; the host's fake runtime fails on demand.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "containers/memory/allocation.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

// Two devices, so that one can be mistaken for the other.
const bool kTwoDevices = ::setenv("FAKE_CUDA_DEVICES", "2", 0) == 0;

using cuda::fake::control;
using Remote = Allocation<GpuDevice>;

class GpuFaults : public testing::Test {
 protected:
  ~GpuFaults() override { control() = before_; }
  void SetUp() override { EXPECT_EQ(control().allocations, 0); }
  void TearDown() override {
    EXPECT_EQ(control().allocations, before_.allocations) << "device memory is lost";
    EXPECT_EQ(control().streams, before_.streams) << "a stream is lost";
  }

  const cuda::fake::Control before_ = control();
};

void fail(const std::string& call) {
  control().failing = call;
  control().error = cudaErrorMemoryAllocation;
}

std::string text(const std::string& call) {
  return "no GPU memory: " + call +
      ": cudaErrorMemoryAllocation (the text of the error); the device's memory is full: end other "
      "programs on it, or choose another device";
}

TEST_F(GpuFaults, MemoryIsReleased) {
  {
    const Remote memory(1000, GpuDevice());
    EXPECT_EQ(control().allocations, 1);
  }
  EXPECT_EQ(control().allocations, 0);
}

TEST_F(GpuFaults, AllocationNamesTheCallThatFails) {
  for (const char* call : {"cudaGetDeviceCount", "cudaGetDevice", "cudaSetDevice", "cudaMalloc"}) {
    fail(call);
    EXPECT_EQ(failure([] { Remote(1, GpuDevice()); }), text(call));
  }
}

TEST_F(GpuFaults, FullMemoryIsALackOfMemory) {
  const auto is_lack = [](cudaError_t error) {
    control().error = error;
    try {
      Remote(1, GpuDevice());
    } catch (const utils::OutOfMemory&) {
      return true;
    } catch (const utils::LogMessageFatal&) {
    }
    return false;
  };
  fail("cudaMalloc");
  EXPECT_TRUE(is_lack(cudaErrorMemoryAllocation));
  EXPECT_FALSE(is_lack(cudaErrorNoKernelImageForDevice));
}

TEST_F(GpuFaults, CopyingNamesTheCallThatFails) {
  const Remote memory(8, GpuDevice());
  char host[8]{};
  for (const char* call :
      {"cudaStreamCreateWithFlags", "cudaMemcpyAsync", "cudaStreamSynchronize"}) {
    fail(call);
    EXPECT_EQ(
        failure([&] { copy_bytes(memory.ptr(), GpuDevice(), host, CpuDevice(), 8); }), text(call));
    EXPECT_EQ(
        failure([&] { copy_bytes(host, CpuDevice(), memory.ptr(), GpuDevice(), 8); }), text(call));
  }
  control().failing.clear();
  EXPECT_EQ(
      failure([&] { copy_bytes(host, CpuDevice(), memory.ptr(), GpuDevice(), 8); }), "succeeded");
}

TEST_F(GpuFaults, CopyingNothingAsksNothing) {
  control().devices = 0;
  EXPECT_EQ(
      failure([] { copy_bytes(nullptr, GpuDevice(), nullptr, CpuDevice(), 0); }), "succeeded");
}

TEST_F(GpuFaults, SaysThatThereIsNoDevice) {
  control().devices = 0;
  EXPECT_EQ(failure([] { Remote(1, GpuDevice()); }),
      "no GPU memory: no NVIDIA device here (cudaGetDeviceCount finds none): nvidia-smi lists "
      "those of the machine, CUDA_VISIBLE_DEVICES those of this process");
}

TEST_F(GpuFaults, SaysWhatToDoAboutTheDriver) {
  control().failing = "cudaGetDeviceCount";
  control().error = cudaErrorInsufficientDriver;
  control().driver = 0;
  EXPECT_EQ(failure([] { Remote(1, GpuDevice()); }),
      "no GPU memory: no NVIDIA driver here (cudaGetDeviceCount finds none); install one for "
      "CUDA 12.4 or newer");
  control().driver = 11080;
  EXPECT_EQ(failure([] { Remote(1, GpuDevice()); }),
      "no GPU memory: the NVIDIA driver is too old (cudaGetDeviceCount fails): it is for "
      "CUDA 11.8; install one for CUDA 12.4 or newer");
}

}  // namespace
}  // namespace lockstep::ndarray
