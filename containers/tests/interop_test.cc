// Typed tensors and arrays without types, over the same memory.
#include "containers/tensor/interop.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "containers/tests/host_tensors.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

template <int Rank> using Ints = CpuTensor<std::int32_t, Rank>;

/// A tensor that shares the memory of an array, and the elements of one that copies it.
template <int Rank> Ints<Rank> shared(NDArray& array) {
  return to_tensor<std::int32_t, Rank, CpuDevice>(array);
}
template <int Rank> std::vector<std::int32_t> copied(const NDArray& array) {
  return elements(copy_to_tensor<std::int32_t, Rank>(array, kCpu));
}

static_assert(dtype_of<float>() == params::DType{2, 32});
static_assert(dtype_of<std::uint16_t>() == params::DType{1, 16});
static_assert(dtype_of<std::int64_t>() == params::DType{0, 64});
static_assert(Element<char> && !Element<bool> && !Element<const int> && !Element<long double>);

TEST(Interop, ArraysShareTheMemoryOfTensorsAndKeepIt) {
  NDArray array;
  const void* memory = nullptr;
  {
    const auto t = counting(make_dim(2, 3));
    memory = t.raw_ptr();
    array = to_ndarray(t);
    *t.index(make_dim(1, 2)) = 42;
  }
  EXPECT_EQ(static_cast<const void*>(array.data()), memory);
  EXPECT_EQ(static_cast<void*>(array.mutable_data()), memory);
  EXPECT_EQ(shape_text(array.shape()), "(2, 3)");
  EXPECT_EQ(shape_text(array.strides()), "(3, 1)");
  EXPECT_TRUE(same_type(array.dtype(), {kDLInt, 32, 1}) && is_host(array.device()));
  EXPECT_EQ(elements(shared<2>(array)).back(), 42);
}

TEST(Interop, ArraysHaveTheStridesOfTensors) {
  const auto t = counting(make_dim(4, 6));
  const Ints<2> part(t.allocation(), make_dim(3, 2), make_dim(1, 6), 7);
  const NDArray array = to_ndarray(part);
  EXPECT_EQ(shape_text(array.strides()), "(1, 6)");
  EXPECT_EQ(copied<2>(array), elements(Copy(part)));
  auto resized = counting(make_dim(2));
  resized.resize(make_dim(3));
  expect_refused("has memory for 2 elements", [&] { return to_ndarray(resized); });
}

TEST(Interop, TensorsShareTheMemoryOfArraysAndKeepIt) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  const void* const memory = array.data();
  const auto t = shared<2>(array);
  EXPECT_EQ(t.raw_ptr(), memory);
  *t.index(make_dim(0, 1)) = 42;
  EXPECT_EQ(copied<2>(array), (std::vector{0, 42, 2, 3, 4, 5}));
  array.reset();
  EXPECT_EQ(elements(t), (std::vector{0, 42, 2, 3, 4, 5}));
}

TEST(Interop, TensorsWriteToNoOtherArray) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  const NDArray sharer = array;
  const auto t = shared<2>(array);
  EXPECT_EQ(static_cast<const void*>(t.raw_ptr()), array.data());
  EXPECT_NE(static_cast<const void*>(t.raw_ptr()), sharer.data());
}

TEST(Interop, TensorsHaveTheStridesOfArrays) {
  NDArray array = to_ndarray(counting(make_dim(4, 6)));
  NDArray part = array.view(std::vector<i64>{3, 2}, std::vector<i64>{1, 6}, 28);
  array.reset();
  const void* const memory = part.data();
  const auto t = shared<2>(part);
  EXPECT_EQ(t.raw_ptr(), memory);
  EXPECT_EQ(t.stride(), make_dim(1, 6));
  EXPECT_EQ(elements(Copy(t)), (std::vector{7, 13, 8, 14, 9, 15}));
  expect_refused("is outside the memory", [&] { return t.index(make_dim(3, 1)); });
}

TEST(Interop, LayoutsThatNoTensorHasAreCopiedWhenAsked) {
  NDArray array = to_ndarray(counting(make_dim(6)));
  const auto view = [&](i64 extent, i64 stride, i64 offset) {
    return array.view(std::vector<i64>{extent}, std::vector<i64>{stride}, offset);
  };
  const auto share = [](NDArray a) { return shared<1>(a); };
  const std::string layout = "has elements that share memory, or steps backward";
  expect_refused(layout, [&] { return share(view(3, 0, 4)); });
  EXPECT_EQ(copied<1>(view(3, 0, 4)), (std::vector{1, 1, 1}));
  expect_refused(layout, [&] { return share(view(3, -2, 20)); });
  EXPECT_EQ(copied<1>(view(3, -2, 20)), (std::vector{5, 3, 1}));
  expect_refused("not aligned to 4 bytes", [&] { return share(view(2, 1, 1)); });
  const std::vector<std::int32_t> odd = copied<1>(view(2, 1, 1));
  std::int32_t expected = 0;
  std::memcpy(&expected, array.data() + 5, sizeof expected);
  EXPECT_EQ(odd.back(), expected);
  const NDArray locked = NDArray::adopt(array.tensor(), nullptr, nullptr, true);
  expect_refused("the array is read-only", [&] { return share(locked); });
  EXPECT_EQ(copied<1>(locked), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Interop, RefusesAnotherRankTypeOrDevice) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  expect_refused("the array's rank and the tensor's", [&] { return shared<1>(array); });
  expect_refused("the array has elements of int32, the tensor of float32",
      [&] { return to_tensor<float, 2, CpuDevice>(array); });
  expect_refused("the array is on the host and the tensor on a GPU",
      [&] { return to_tensor<std::int32_t, 2, GpuDevice>(array); });
  NDArray null;
  expect_refused("null", [&] { return shared<2>(null); });
  expect_refused("null", [&] { return copy_to_tensor<std::int32_t, 2>(null, kCpu); });
  expect_refused("the array's rank", [&] { return copy_to_tensor<std::int32_t, 3>(array, kCpu); });
}

TEST(Interop, TakesWhatIsEmptyAndWhatIsOne) {
  NDArray none = to_ndarray(Ints<2>(make_dim(0, 3), kCpu));
  EXPECT_EQ((shared<2>(none).size()), make_dim(0, 3));
  EXPECT_EQ(to_ndarray(Ints<2>()).data(), nullptr);
  NDArray one = to_ndarray(counting(Dim<0>()));
  EXPECT_EQ(elements(shared<0>(one)), std::vector{0});
}

}  // namespace
}  // namespace lockstep::ndarray
