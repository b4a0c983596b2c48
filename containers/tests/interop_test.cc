// Typed tensors and arrays without types, over the same memory.
#include "containers/tensor/interop.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "containers/tensor/copy.h"
#include "containers/tests/host_tensors.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

template <int Rank>
using Ints = CpuTensor<std::int32_t, Rank>;

template <int Rank>
std::vector<std::int32_t> compact_elements(const Ints<Rank>& t) {
  const auto compact = Copy(t);
  return {compact.raw_ptr(), compact.raw_ptr() + compact.numel()};
}

static_assert(dtype_of<float>() == params::DType{2, 32});
static_assert(dtype_of<std::uint16_t>() == params::DType{1, 16});
static_assert(dtype_of<std::int64_t>() == params::DType{0, 64});
static_assert(Element<char> && !Element<bool> && !Element<const int> && !Element<long double>);

template <class Call>
void expect_refused(const std::string& text, const Call& call) {
  const std::string answer = refusal(call);
  EXPECT_NE(answer.find(text), std::string::npos) << answer;
}

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
  EXPECT_EQ(compact_elements(to_tensor<std::int32_t, 2, CpuDevice>(array)).back(), 42);
}

TEST(Interop, ArraysHaveTheStridesOfTensors) {
  const auto t = counting(make_dim(4, 6));
  const Ints<2> part(t.allocation(), make_dim(3, 2), make_dim(1, 6), 7);
  const NDArray array = to_ndarray(part);
  EXPECT_EQ(shape_text(array.strides()), "(1, 6)");
  EXPECT_EQ(compact_elements(copy_to_tensor<std::int32_t, 2>(array, kCpu)), compact_elements(part));
  auto resized = counting(make_dim(2));
  resized.resize(make_dim(3));
  expect_refused("has memory for 2 elements", [&] { return to_ndarray(resized); });
}

TEST(Interop, TensorsShareTheMemoryOfArraysAndKeepIt) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  const void* const memory = array.data();
  const auto t = to_tensor<std::int32_t, 2, CpuDevice>(array);
  EXPECT_EQ(t.raw_ptr(), memory);
  *t.index(make_dim(0, 1)) = 42;
  EXPECT_EQ(compact_elements(copy_to_tensor<std::int32_t, 2>(array, kCpu)),
            (std::vector{0, 42, 2, 3, 4, 5}));
  array.reset();
  EXPECT_EQ(compact_elements(t), (std::vector{0, 42, 2, 3, 4, 5}));
}

TEST(Interop, TensorsWriteToNoOtherArray) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  const NDArray sharer = array;
  const auto t = to_tensor<std::int32_t, 2, CpuDevice>(array);
  EXPECT_EQ(static_cast<const void*>(t.raw_ptr()), array.data());
  EXPECT_NE(static_cast<const void*>(t.raw_ptr()), sharer.data());
}

TEST(Interop, TensorsHaveTheStridesOfArrays) {
  NDArray array = to_ndarray(counting(make_dim(4, 6)));
  NDArray part = array.view(std::vector<i64>{3, 2}, std::vector<i64>{1, 6}, 28);
  array.reset();
  const void* const memory = part.data();
  const auto t = to_tensor<std::int32_t, 2, CpuDevice>(part);
  EXPECT_EQ(t.raw_ptr(), memory);
  EXPECT_EQ(t.stride(), make_dim(1, 6));
  EXPECT_EQ(compact_elements(t), (std::vector{7, 13, 8, 14, 9, 15}));
  expect_refused("is outside the memory", [&] { return t.index(make_dim(3, 1)); });
}

TEST(Interop, LayoutsThatNoTensorHasAreCopiedWhenAsked) {
  NDArray array = to_ndarray(counting(make_dim(6)));
  const auto view = [&](i64 extent, i64 stride, i64 offset) {
    return array.view(std::vector<i64>{extent}, std::vector<i64>{stride}, offset);
  };
  const auto share = [](NDArray a) { return to_tensor<std::int32_t, 1, CpuDevice>(a); };
  const auto copied = [](const NDArray& a) {
    return compact_elements(copy_to_tensor<std::int32_t, 1>(a, kCpu));
  };
  const std::string layout = "has elements that share memory, or steps backward";
  expect_refused(layout, [&] { return share(view(3, 0, 4)); });
  EXPECT_EQ(copied(view(3, 0, 4)), (std::vector{1, 1, 1}));
  expect_refused(layout, [&] { return share(view(3, -2, 20)); });
  EXPECT_EQ(copied(view(3, -2, 20)), (std::vector{5, 3, 1}));
  expect_refused("not aligned to 4 bytes", [&] { return share(view(2, 1, 1)); });
  const std::vector<std::int32_t> odd = copied(view(2, 1, 1));
  std::int32_t expected = 0;
  std::memcpy(&expected, array.data() + 5, sizeof expected);
  EXPECT_EQ(odd.back(), expected);
  const NDArray locked = NDArray::adopt(array.tensor(), nullptr, nullptr, true);
  expect_refused("the array is read-only", [&] { return share(locked); });
  EXPECT_EQ(copied(locked), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Interop, RefusesAnotherRankTypeOrDevice) {
  NDArray array = to_ndarray(counting(make_dim(2, 3)));
  expect_refused("the array's rank and the tensor's",
                 [&] { return to_tensor<std::int32_t, 1, CpuDevice>(array); });
  expect_refused("the array has elements of int32, the tensor of float32",
                 [&] { return to_tensor<float, 2, CpuDevice>(array); });
  expect_refused("the array is on the host and the tensor on a GPU",
                 [&] { return to_tensor<std::int32_t, 2, GpuDevice>(array); });
  NDArray null;
  expect_refused("null", [&] { return to_tensor<std::int32_t, 2, CpuDevice>(null); });
  expect_refused("null", [&] { return copy_to_tensor<std::int32_t, 2>(null, kCpu); });
  expect_refused("the array's rank", [&] { return copy_to_tensor<std::int32_t, 3>(array, kCpu); });
}

TEST(Interop, TakesWhatIsEmptyAndWhatIsOne) {
  NDArray none = to_ndarray(Ints<2>(make_dim(0, 3), kCpu));
  EXPECT_EQ((to_tensor<std::int32_t, 2, CpuDevice>(none).size()), make_dim(0, 3));
  EXPECT_EQ(to_ndarray(Ints<2>()).data(), nullptr);
  NDArray one = to_ndarray(counting(Dim<0>()));
  EXPECT_EQ(compact_elements(to_tensor<std::int32_t, 0, CpuDevice>(one)), std::vector{0});
}

}  // namespace
}  // namespace lockstep::ndarray
