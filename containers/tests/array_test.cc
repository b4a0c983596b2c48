/// References, copy-on-write, views and adopted memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "containers/array/copy.h"
#include "containers/array/ndarray.h"
#include "containers/exceptions.h"
#include "containers/tests/numbers.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

constexpr i64 kMost = std::numeric_limits<i64>::max();

TEST(NDArray, NullIsNoArray) {
  NDArray null;
  EXPECT_FALSE(null);
  EXPECT_EQ(null.use_count(), 0);
  EXPECT_TRUE(null.same_as(NDArray()));
  null.reset();
  EXPECT_THROW(null.mutable_data(), utils::ValueVerifyFatal);
  EXPECT_THROW(null.copy(kHost), utils::ValueVerifyFatal);
  EXPECT_THROW(null.view({}, {}), utils::ValueVerifyFatal);
}

TEST(NDArray, CopiesShareAndMovesSteal) {
  NDArray a = numbers({2}, {1, 2});
  EXPECT_EQ(a.use_count(), 1);
  NDArray b = a;
  EXPECT_TRUE(b.same_as(a));
  EXPECT_EQ(a.use_count(), 2);
  const NDArray c = std::move(b);
  EXPECT_EQ(a.use_count(), 2);
  EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move): a stolen array is null
  b = c;
  EXPECT_EQ(a.use_count(), 3);
  b = std::move(a);
  EXPECT_EQ(c.use_count(), 2) << "assigning over a reference gives it up";
  b.swap(a);
  EXPECT_TRUE(a.same_as(c));
  NDArray& self = a;
  a = self;
  EXPECT_EQ(c.use_count(), 2);
  a.reset();
  EXPECT_EQ(c.use_count(), 1);
}

TEST(NDArray, AnEmptyArrayIsCompactAndKnowsItself) {
  const NDArray array = NDArray::empty(Extents{2, 3, 4}, {kDLFloat, 16, 1});
  EXPECT_EQ(array.rank(), 3);
  EXPECT_TRUE(array.is_compact());
  EXPECT_EQ(Extents(strides_of(array.tensor())), (Extents{12, 4, 1}));
  EXPECT_EQ(byte_count(array.tensor()), 48u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
  EXPECT_EQ(values_of(NDArray::empty(Extents{3, 0}, kInt32)), Values());
  EXPECT_EQ(NDArray::empty(Extents{3, 0}, kInt32).data(), nullptr);
  EXPECT_EQ(values_of(numbers({}, {7})), Values{7});
}

// {2, 3} in a buffer of 5 rows of 8, at row 1 and column 4.
constexpr ShapeDescriptor kPadded =
    paddedBufferDescriptor({0, 32}, Order::kC, {2, 3}, {3, 5}, {1, 4});

NDArray padded(const Values& values, int between) {
  NDArray array = NDArray::empty(kPadded);
  auto* first = reinterpret_cast<int*>(array.mutable_data());
  std::fill_n(first - kPadded.offset, kPadded.allocated, between);
  copy(numbers({2, 3}, values).tensor(), array.mutable_tensor());
  return array;
}

// The whole buffer of such an array.
Values buffer_of(const NDArray& array) {
  const auto* first = reinterpret_cast<const int*>(array.data()) - kPadded.offset;
  return {first, first + kPadded.allocated};
}

TEST(Padded, ElementsLieWhereTheDescriptorSays) {
  const NDArray array = padded({1, 2, 3, 4, 5, 6}, 9);
  EXPECT_EQ(Extents(strides_of(array.tensor())), (Extents{8, 1}));
  EXPECT_EQ(values_of(array), (Values{1, 2, 3, 4, 5, 6}));
  Values buffer(40, 9);
  for (std::size_t k = 0; k < 6; ++k) buffer[12 + k / 3 * 8 + k % 3] = static_cast<int>(k) + 1;
  EXPECT_EQ(buffer_of(array), buffer);
}

TEST(Padded, CopiesKeepLayoutAndPadding) {
  const NDArray array = padded({1, 2, 3, 4, 5, 6}, 9);
  const Values buffer = buffer_of(array);
  const NDArray other = array.copy();
  EXPECT_EQ(buffer_of(other), buffer);
  NDArray writer = array;
  *reinterpret_cast<int*>(writer.mutable_data()) = 7;
  EXPECT_EQ(buffer_of(array), buffer) << "the writer detached";
  EXPECT_EQ(values_of(writer), (Values{7, 2, 3, 4, 5, 6}));
  EXPECT_EQ(writer.strides()[0], 8);
  const NDArray part = array.view(Extents{2}, Extents{8}).copy();
  EXPECT_TRUE(part.is_compact()) << "a view is no padded tensor";
  EXPECT_EQ(values_of(part), (Values{1, 4}));
}

TEST(Padded, EveryClassOfLayoutAndNoOther) {
  const NDArray columns = NDArray::empty(compact_descriptor({2, 16}, Order::kF, {2, 3}));
  EXPECT_EQ(Extents(strides_of(columns.tensor())), (Extents{1, 2}));
  EXPECT_EQ(
      NDArray::empty(paddedBufferDescriptor({0, 8}, Order::kC, {0, 3}, {0, 2})).shape()[0], 0);
  ShapeDescriptor beyond = kPadded;
  beyond.offset = 30;
  EXPECT_EQ(refusal([&] { NDArray::empty(beyond); }),
      "an array reaches from byte 120 to 164 of memory that has 160");
  ShapeDescriptor before = kPadded;
  before.offset = -1;
  EXPECT_EQ(refusal([&] { NDArray::empty(before); }),
      "an array reaches from byte -4 to 40 of memory that has 160");
  ShapeDescriptor ragged = kPadded;
  ragged.strides.size = 1;
  EXPECT_EQ(refusal([&] { NDArray::empty(ragged); }), "the shape and its strides do not fit");
}

TEST(CopyOnWrite, TheWriterOfTwoSharersDetaches) {
  NDArray a = numbers({2, 2}, {1, 2, 3, 4});
  NDArray b = a;
  const std::byte* before = a.data();
  EXPECT_EQ(b.data(), before);
  set_first(b, 9);
  EXPECT_EQ(values_of(a), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values_of(b), (Values{9, 2, 3, 4}));
  EXPECT_EQ(a.data(), before);
  EXPECT_NE(b.data(), before);
  EXPECT_FALSE(a.same_as(b));
  EXPECT_EQ(a.use_count(), 1);
  EXPECT_EQ(b.use_count(), 1);
}

TEST(CopyOnWrite, ASingleOwnerWritesInPlace) {
  NDArray a = numbers({2}, {1, 2});
  const std::byte* before = a.data();
  NDArray(a).reset();
  set_first(a, 5);
  EXPECT_EQ(a.data(), before);
  EXPECT_EQ(values_of(a), (Values{5, 2}));
}

TEST(View, ShowsElementsOfItsParentAndKeepsThemAlive) {
  NDArray parent = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray transposed = parent.view(Extents{3, 2}, Extents{1, 3});
  EXPECT_EQ(values_of(transposed), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_FALSE(transposed.is_compact());
  EXPECT_EQ(parent.use_count(), 2);
  const NDArray reversed = transposed.view(Extents{3}, Extents{-1}, 8);
  EXPECT_EQ(values_of(reversed), (Values{3, 2, 1}));
  EXPECT_EQ(parent.use_count(), 3) << "a view of a view refers to the memory, not to the view";
  const NDArray last = reversed.view(Extents{2}, Extents{1}, -8);
  EXPECT_EQ(values_of(last), (Values{1, 2})) << "offsets count from the view's first element";
  const NDArray repeated = parent.view(Extents{2, 2}, Extents{0, 1}, 16);
  EXPECT_EQ(values_of(repeated), (Values{5, 6, 5, 6}));
  parent.reset();
  EXPECT_EQ(values_of(reversed), (Values{3, 2, 1}));
}

TEST(View, OutsideTheMemoryIsRefused) {
  const NDArray parent = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto refused = [&](const Extents& shape, const Extents& strides, i64 offset) {
    EXPECT_THROW(parent.view(shape, strides, offset), utils::ValueVerifyFatal);
    EXPECT_EQ(parent.use_count(), 1) << "a refused view holds on to its parent";
  };
  refused({7}, {1}, 0);
  refused({6}, {1}, 1);
  refused({2}, {-1}, 0);
  refused({1}, {1}, -1);
  refused({2}, {kMost}, 0);
  refused({2, 2}, {kMost / 4, kMost / 4}, 0);
  refused({-1}, {1}, 0);
  refused({2, 2}, {1}, 0);
  refused({1}, {1}, kMost);
  refused({0}, {1}, 25);
  EXPECT_EQ(values_of(parent.view(Extents{0}, Extents{1}, 24)), Values());
  EXPECT_EQ(values_of(parent.view(Extents{1}, Extents{kMost}, 20)), Values{6});
}

TEST(View, AWriterOfAViewDetachesFromWhoeverHoldsTheMemory) {
  NDArray parent = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  NDArray column = parent.view(Extents{2}, Extents{3}, 4);
  set_first(column, 9);
  EXPECT_EQ(values_of(column), (Values{9, 5}));
  EXPECT_EQ(values_of(parent), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(column.is_compact()) << "the detached view is an array of its own";
  EXPECT_EQ(parent.use_count(), 1) << "and the parent is free of it";
}

TEST(View, AWriterOfTheParentDetachesFromItsViews) {
  NDArray parent = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray row = parent.view(Extents{3}, Extents{1}, 12);
  set_first(parent, 9);
  EXPECT_EQ(values_of(parent), (Values{9, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_of(row), (Values{4, 5, 6}));
}

TEST(View, TheLastHolderOfTheMemoryWritesInPlace) {
  NDArray view = numbers({2, 3}, {1, 2, 3, 4, 5, 6}).view(Extents{2}, Extents{3}, 4);
  const std::byte* before = view.data();
  set_first(view, 9);
  EXPECT_EQ(view.data(), before);
  EXPECT_EQ(values_of(view), (Values{9, 5}));
  EXPECT_FALSE(view.is_compact()) << "a view that writes in place keeps its strides";
  NDArray other = view;
  set_first(other, 1);
  EXPECT_EQ(values_of(view), (Values{9, 5})) << "two references to one view are two holders";
}

TEST(View, OverlappingElementsAreWrittenToInACopy) {
  NDArray repeated = numbers({1}, {7}).view(Extents{3}, Extents{0});
  set_first(repeated, 8);
  EXPECT_EQ(values_of(repeated), (Values{8, 7, 7}));
}

// What makes a tensor malformed, and what becomes of memory that was lent, is the subject of
// dlpack_test, which lends by the same function.
TEST(Adopt, AMalformedTensorIsRefusedAndNotReleased) {
  const NDArray lender = numbers({2}, {1, 2});
  DLTensor tensor = lender.tensor();
  tensor.data = nullptr;
  int returned = 0;
  const auto give_back = [](void* count) { ++*static_cast<int*>(count); };
  EXPECT_THROW(NDArray::adopt(tensor, &returned, give_back, false), utils::ValueVerifyFatal);
  EXPECT_EQ(returned, 0);
}

}  // namespace
}  // namespace lockstep::ndarray
