// Memory and tensors of a GPU, on the fake CUDA runtime of the host and, if there is one, on a
// device.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "containers/array/dlpack.h"
#include "containers/tensor/interop.h"
#include "containers/tests/host_tensors.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (cudaGetDeviceCount(&devices_) != cudaSuccess || devices_ == 0)
      GTEST_SKIP() << "no NVIDIA device here";
  }
  /// The last one, so that not all there is lies on the first.
  GpuDevice last() const { return GpuDevice(devices_ - 1); }

  int devices_ = 0;
};

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  return attributes.device;
}

TEST_F(Gpu, MemoryIsOnItsDevice) {
  const Allocation<GpuDevice> first(1000, GpuDevice());
  const Allocation<GpuDevice> other(1000, last());
  EXPECT_EQ(device_of(first.ptr()), 0);
  EXPECT_EQ(device_of(other.ptr()), last().device_id);
  EXPECT_EQ(other.device(), last());
  EXPECT_EQ(Allocation<GpuDevice>(0, last()).ptr(), nullptr);
}

TEST_F(Gpu, TheCallersDeviceStaysCurrent) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const auto there = Copy(counting(make_dim(2, 3)), last());
  const auto again = Copy(there);
  const auto back = Copy(again, kCpu);
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
}

TEST_F(Gpu, CopiesThereAndBack) {
  const auto source = counting(make_dim(300, 70));
  const auto there = Copy(source, GpuDevice());
  const auto other = Copy(there, last());
  EXPECT_EQ(device_of(there.raw_ptr()), 0);
  EXPECT_EQ(device_of(other.raw_ptr()), last().device_id);
  EXPECT_EQ(elements(Copy(other, kCpu)), elements(source));
}

TEST_F(Gpu, CopiesAnyStrides) {
  const auto source = counting(make_dim(4, 6));
  const std::vector<int> expected{7, 13, 8, 14, 9, 15};
  const auto transposed = [](const auto& t) {
    using Source = std::decay_t<decltype(t)>;
    return Source(t.allocation(), make_dim(3, 2), make_dim(1, 6), 7);
  };
  EXPECT_EQ(elements(Copy(Copy(transposed(source), last()), kCpu)), expected);
  const auto there = Copy(source, last());
  EXPECT_EQ(elements(Copy(transposed(there), kCpu)), expected);
  const auto moved = Copy(transposed(there), GpuDevice());
  EXPECT_EQ(moved.stride(), make_dim(2, 1));
  EXPECT_EQ(device_of(moved.raw_ptr()), 0);
  EXPECT_EQ(elements(Copy(moved, kCpu)), expected);
}

TEST_F(Gpu, TensorsShareAndGrow) {
  auto t = Copy(counting(make_dim(2, 3)), last());
  const Tensor<int, 1, GpuDevice> row(make_dim(6), t);
  EXPECT_EQ(row.raw_ptr(), t.raw_ptr());
  t.resize(make_dim(200, 3));
  EXPECT_NE(t.mutable_data(), row.raw_ptr());
  EXPECT_EQ(t.device(), last());
  EXPECT_EQ(elements(Copy(row, kCpu)), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST_F(Gpu, ArraysAndTensorsShareMemory) {
  const auto t = Copy(counting(make_dim(2, 3)), last());
  NDArray array = to_ndarray(t);
  EXPECT_EQ(array.device().device_type, kDLCUDA);
  EXPECT_EQ(array.device().device_id, last().device_id);
  EXPECT_EQ((to_tensor<int, 2, GpuDevice>(array).raw_ptr()), t.raw_ptr());
  EXPECT_EQ(elements(copy_to_tensor<int, 2>(array, kCpu)), (std::vector{0, 1, 2, 3, 4, 5}));
  expect_refused(
      "the array is on cuda " + std::to_string(last().device_id) + " and the tensor on the host",
      [&] { return to_tensor<int, 2, CpuDevice>(array); });
}

TEST_F(Gpu, DlpackSaysWhichDevice) {
  NDArray array = to_ndarray(Copy(counting(make_dim(2, 3)), last()));
  dlpack::ManagedTensorVersioned* managed = export_versioned(array, dlpack::Access::kRead);
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(managed->dl_tensor.device.device_id, last().device_id);
  const NDArray again = dlpack::import_versioned(managed);
  EXPECT_EQ(again.data(), array.data());
  EXPECT_EQ(elements(copy_to_tensor<int, 2>(again, kCpu)).back(), 5);
}

TEST_F(Gpu, EmptyTensorsCopy) {
  const Tensor<int, 2, GpuDevice> none(make_dim(0, 3), last());
  EXPECT_EQ(Copy(none, kCpu).size(), make_dim(0, 3));
  EXPECT_EQ(Copy(Copy(none, kCpu), last()).raw_ptr(), nullptr);
}

TEST_F(Gpu, RefusesDevicesThatAreNotHere) {
  for (int id : {-1, devices_})
    expect_refused("there is no GPU " + std::to_string(id) + " here: there are " +
            std::to_string(devices_) + ", counted from 0",
        [&] { return Allocation<GpuDevice>(1, GpuDevice(id)); });
}

}  // namespace
}  // namespace lockstep::ndarray
