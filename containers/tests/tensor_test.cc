#include "containers/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "containers/tensor/interop.h"
#include "containers/tests/host_tensors.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

/// A view of another tensor's memory.
template <int Rank, int SourceRank>
CpuTensor<int, Rank> view(const CpuTensor<int, SourceRank>& source, const Dim<Rank>& size,
    const Dim<Rank>& stride, i64 offset = 0) {
  return {source.allocation(), size, stride, offset};
}

TEST(Tensor, HasNoMemoryByDefault) {
  const CpuTensor<int, 2> t;
  EXPECT_EQ(t.raw_ptr(), nullptr);
  EXPECT_EQ(t.allocation(), nullptr);
  EXPECT_EQ(t.size(), make_dim(0, 0));
  EXPECT_EQ(t.numel(), 0);
  EXPECT_EQ(t.device(), kCpu);
  EXPECT_EQ(refusal([&] { return t.index(make_dim(0, 0)); }),
      "element (0, 0) is outside the memory, which has 0 elements");
}

TEST(Tensor, IsRowMajorAndCompact) {
  const auto t = counting(make_dim(2, 3, 4));
  EXPECT_EQ(t.numel(), 24);
  EXPECT_EQ(t.stride(), make_dim(12, 4, 1));
  EXPECT_EQ(t.allocation()->size(), 24 * sizeof(int));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.raw_ptr()) % 64, 0u);
  EXPECT_EQ(*t.index(make_dim(1, 2, 3)), 23);
  EXPECT_EQ(t.index(make_dim(1, 0, 2)), t.raw_ptr() + 14);
  static_assert(std::is_same_v<decltype(t.numel()), i64>);
}

TEST(Tensor, HasOneElementAtRankZero) {
  const CpuTensor<double, 0> t({}, kCpu);
  EXPECT_EQ(t.numel(), 1);
  EXPECT_EQ(t.index({}), t.raw_ptr());
  EXPECT_EQ(refusal([] { return CpuTensor<double, 0>().index({}); }),
      "element () is outside the memory, which has 0 elements");
}

TEST(Tensor, MayBeEmpty) {
  CpuTensor<int, 2> t(make_dim(2, 0), kCpu);
  EXPECT_EQ(t.numel(), 0);
  EXPECT_EQ(t.raw_ptr(), nullptr);
  EXPECT_EQ(t.mutable_data(), nullptr);
  EXPECT_EQ(Copy(t).size(), make_dim(2, 0));
  EXPECT_EQ(ShareData(t).size(), make_dim(2, 0));
}

TEST(Tensor, RefusesSizesThatCannotBe) {
  using Bytes = CpuTensor<std::int64_t, 2>;
  EXPECT_EQ(refusal([] { return Bytes(make_dim(-1, 2), kCpu); }), "a negative extent: -1");
  EXPECT_EQ(refusal([] { return Bytes(make_dim(i64{1} << 60, 1), kCpu); }),
      "the size of a tensor in bytes does not fit int64");
  EXPECT_EQ(refusal([] { return Bytes(make_dim(i64{1} << 60, i64{1} << 60), kCpu); }),
      "the number of elements does not fit int64");
}

TEST(Tensor, SharesWithAnotherRank) {
  const auto t = counting(make_dim(2, 3, 4));
  const CpuTensor<int, 2> matrix(make_dim(3, 8), t);
  EXPECT_EQ(matrix.raw_ptr(), t.raw_ptr());
  EXPECT_EQ(matrix.stride(), make_dim(8, 1));
  EXPECT_EQ(*matrix.index(make_dim(2, 1)), 17);
  *matrix.index(make_dim(0, 0)) = 99;
  EXPECT_EQ(*t.index(make_dim(0, 0, 0)), 99);
  const CpuTensor<int, 1> row(make_dim(4), view(t, make_dim(1, 4), make_dim(4, 1), 8));
  EXPECT_EQ(row.raw_ptr(), t.raw_ptr() + 8);
}

TEST(Tensor, SharesOnlyAsManyElementsThatLieTogether) {
  const auto t = counting(make_dim(2, 3));
  EXPECT_EQ(refusal([&] { return CpuTensor<int, 1>(make_dim(5), t); }),
      "(5,) has not as many elements as (2, 3)");
  const auto transposed = view(t, make_dim(3, 2), make_dim(1, 3));
  EXPECT_EQ(refusal([&] { return CpuTensor<int, 1>(make_dim(6), transposed); }),
      "the elements of a tensor of size (3, 2) and strides (1, 3) do not lie one after the "
      "other");
  auto resized = ShareData(t);
  resized.resize(make_dim(2, 4));
  EXPECT_EQ(refusal([&] { return CpuTensor<int, 1>(make_dim(8), resized); }),
      "a tensor of size (2, 4) has memory for 6 elements; mutable_data() allocates");
  EXPECT_EQ(refusal([&] { return ShareData(resized); }),
      "a tensor of size (2, 4) has memory for 6 elements; mutable_data() allocates");
}

TEST(Tensor, ViewsStayInsideTheMemory) {
  const auto t = counting(make_dim(2, 3));
  EXPECT_EQ(*view(t, make_dim(2), make_dim(3), 2).index(make_dim(1)), 5);
  EXPECT_EQ(refusal([&] { return view(t, make_dim(2), make_dim(3), 3); }),
      "a view of elements 3 to 7 of memory that has 6");
  EXPECT_EQ(refusal([&] { return view(t, make_dim(1), make_dim(1), -1); }),
      "a view of elements -1 to 0 of memory that has 6");
  EXPECT_EQ(
      refusal([&] { return view(t, make_dim(2), make_dim(-1), 1); }), "a negative stride: -1");
  std::byte memory[16]{};
  const auto odd = std::make_shared<const Allocation<CpuDevice>>(memory + 1, 8, kCpu, nullptr);
  EXPECT_EQ(refusal([&] { return CpuTensor<int, 1>(odd, make_dim(1), make_dim(1), 0); }),
      "memory that is not aligned to 4 bytes");
}

TEST(Tensor, ChecksIndicesAgainstTheMemoryAndTheSize) {
  const auto t = counting(make_dim(2, 3));
  // Inside the memory and outside the size.
  EXPECT_EQ(*t.index(make_dim(0, 4)), 4);
  EXPECT_EQ(refusal([&] { return t.at(make_dim(0, 4)); }),
      "there is no element (0, 4) in a tensor of size (2, 3)");
  EXPECT_EQ(*t.at(make_dim(1, 2)), 5);
  EXPECT_EQ(refusal([&] { return t.index(make_dim(2, 0)); }),
      "element (2, 0) is outside the memory, which has 6 elements");
  EXPECT_EQ(refusal([&] { return t.index(make_dim(0, -1)); }),
      "element (0, -1) is outside the memory, which has 6 elements");
  EXPECT_EQ(refusal([&] { return t.index(make_dim(std::numeric_limits<i64>::max(), 0)); }),
      "the place of an element does not fit int64");
}

TEST(Tensor, ResizingWaitsForMutableData) {
  auto t = counting(make_dim(2, 3));
  const auto sharer = ShareData(t);
  const int* const before = t.raw_ptr();
  t.resize(make_dim(3, 4));
  EXPECT_EQ(t.size(), make_dim(3, 4));
  EXPECT_EQ(t.stride(), make_dim(4, 1));
  EXPECT_EQ(t.raw_ptr(), before);
  EXPECT_EQ(*t.at(make_dim(1, 1)), 5);
  EXPECT_EQ(refusal([&] { return t.at(make_dim(1, 2)); }),
      "element (1, 2) is outside the memory, which has 6 elements");
  EXPECT_EQ(refusal([&] { return Copy(t); }),
      "a tensor of size (3, 4) has memory for 6 elements; mutable_data() allocates");

  int* const after = t.mutable_data();
  EXPECT_NE(after, before);
  EXPECT_EQ(t.raw_ptr(), after);
  std::fill(after, after + 12, 7);
  EXPECT_EQ(sharer.raw_ptr(), before);
  EXPECT_EQ(elements(sharer), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Tensor, MutableDataKeepsMemoryThatSuffices) {
  auto t = counting(make_dim(2, 3));
  int* const before = t.raw_ptr();
  const auto sharer = ShareData(t);
  EXPECT_EQ(t.mutable_data(), before);
  t.resize(make_dim(1, 2));
  EXPECT_EQ(t.mutable_data(), before);
  t.resize(make_dim(3, 2));
  EXPECT_EQ(t.mutable_data(), before);
  // Memory before the first element does not count as room.
  auto tail = view(t, make_dim(2), make_dim(1), 4);
  tail.resize(make_dim(3));
  EXPECT_NE(tail.mutable_data(), before);
  EXPECT_EQ(tail.offset(), 0);
  CpuTensor<int, 1> none;
  none.resize(make_dim(5));
  ASSERT_NE(none.mutable_data(), nullptr);
  EXPECT_EQ(none.allocation()->size(), 5 * sizeof(int));
}

TEST(Tensor, RefusedSizesChangeNothing) {
  auto t = counting(make_dim(2, 3));
  EXPECT_NE(refusal([&] { return t.resize(make_dim(-1, 3)), 0; }), "accepted");
  EXPECT_NE(refusal([&] { return t.resize(make_dim(i64{1} << 62, 1)), 0; }), "accepted");
  EXPECT_NE(refusal([&] { return t.reshape(make_dim(7, 1)), 0; }), "accepted");
  EXPECT_EQ(t.size(), make_dim(2, 3));
  EXPECT_EQ(t.stride(), make_dim(3, 1));
}

TEST(Tensor, ReshapingKeepsTheElements) {
  auto t = counting(make_dim(2, 3));
  t.reshape(make_dim(3, 2));
  EXPECT_EQ(t.stride(), make_dim(2, 1));
  EXPECT_EQ(elements(t), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(refusal([&] { return t.reshape(make_dim(2, 2)), 0; }),
      "(2, 2) has not as many elements as (3, 2)");
  auto transposed = view(t, make_dim(2, 3), make_dim(1, 2));
  EXPECT_EQ(refusal([&] { return transposed.reshape(make_dim(3, 2)), 0; }),
      "the elements of a tensor of size (2, 3) and strides (1, 2) do not lie one after the "
      "other");
}

TEST(Tensor, MovingLeavesNothing) {
  auto t = counting(make_dim(2, 3));
  const int* const memory = t.raw_ptr();
  auto moved = std::move(t);
  EXPECT_EQ(moved.raw_ptr(), memory);
  // NOLINTBEGIN(bugprone-use-after-move): what is left is the subject.
  EXPECT_EQ(t.raw_ptr(), nullptr);
  EXPECT_EQ(t.size(), make_dim(0, 0));
  t = std::move(moved);
  EXPECT_EQ(moved.allocation(), nullptr);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(t.raw_ptr(), memory);
  EXPECT_EQ(t.allocation().use_count(), 1);
}

TEST(Tensor, CopiesAreDeep) {
  const auto t = counting(make_dim(2, 3));
  const auto copy = Copy(t);
  EXPECT_NE(copy.raw_ptr(), t.raw_ptr());
  EXPECT_EQ(elements(copy), elements(t));
  *t.raw_ptr() = 99;
  EXPECT_EQ(*copy.raw_ptr(), 0);
}

TEST(Tensor, CopiesAnyStrides) {
  const auto t = counting(make_dim(4, 6));
  const auto transposed = Copy(view(t, make_dim(3, 2), make_dim(1, 6), 7));
  EXPECT_EQ(transposed.stride(), make_dim(2, 1));
  EXPECT_EQ(elements(transposed), (std::vector{7, 13, 8, 14, 9, 15}));
  const auto broadcast = Copy(view(t, make_dim(2, 3), make_dim(0, 2), 1));
  EXPECT_EQ(elements(broadcast), (std::vector{1, 3, 5, 1, 3, 5}));
  const auto every = Copy(view(t, make_dim(2, 2, 1, 2), make_dim(12, 5, 77, 2)));
  EXPECT_EQ(elements(every), (std::vector{0, 2, 5, 7, 12, 14, 17, 19}));
}

TEST(Tensor, SharersSeeWritesAndOutlive) {
  CpuTensor<int, 2> sharer;
  {
    const auto t = counting(make_dim(2, 3));
    sharer = ShareData(t);
    EXPECT_EQ(sharer.raw_ptr(), t.raw_ptr());
    *t.index(make_dim(1, 1)) = 42;
  }
  EXPECT_EQ(elements(sharer), (std::vector{0, 1, 2, 3, 42, 5}));
  EXPECT_EQ(sharer.allocation().use_count(), 1);
}

}  // namespace
}  // namespace lockstep::ndarray
