// Without the CUDA toolkit the GPU's types exist, but its memory cannot be acquired.
#include <gtest/gtest.h>

#include "containers/tensor/interop.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

constexpr char kText[] = "no GPU memory: this build was made without the CUDA toolkit";

TEST(NoGpu, AllocatingSaysSo) {
  EXPECT_EQ(failure([] { Allocation<GpuDevice>(1, GpuDevice()); }), kText);
  EXPECT_EQ(failure([] { Tensor<int, 1, GpuDevice>(make_dim(2), GpuDevice(1)); }), kText);
}

TEST(NoGpu, CopyingSaysSo) {
  const Tensor<int, 1, CpuDevice> t(make_dim(2), CpuDevice());
  EXPECT_EQ(failure([&] { Copy(t, GpuDevice()); }), kText);
  char bytes[2]{};
  EXPECT_EQ(failure([&] { copy_bytes(bytes, CpuDevice(), bytes + 1, GpuDevice(), 1); }), kText);
  EXPECT_EQ(failure([&] { copy_bytes(bytes, GpuDevice(), bytes + 1, GpuDevice(), 1); }), kText);
}

TEST(NoGpu, TensorsWithoutMemoryNeedNone) {
  const Tensor<int, 1, GpuDevice> none;
  EXPECT_EQ(none.raw_ptr(), nullptr);
  EXPECT_EQ((Tensor<int, 1, GpuDevice>(make_dim(0), GpuDevice()).numel()), 0);
}

}  // namespace
}  // namespace lockstep::ndarray
