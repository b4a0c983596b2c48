// Producers that break the rules of DLPack, and what NDArray does with their structs.
#include "containers/array/dlpack.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "containers/tests/numbers.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray::dlpack {
namespace {

/// Someone else's tensor on the heap: six int32 elements, 0 to 5, and a count of its deletions.
template <class Managed> struct Producer {
  Managed managed{};
  std::array<std::int32_t, 6> data{0, 1, 2, 3, 4, 5};
  std::vector<i64> shape{2, 3};
  std::vector<i64> strides{3, 1};
  int* deletions = nullptr;
};

template <class Managed> Producer<Managed>* make(int& deletions) {
  auto* producer = new Producer<Managed>();
  producer->deletions = &deletions;
  producer->managed.manager_ctx = producer;
  producer->managed.deleter = [](Managed* self) {
    auto* owner = static_cast<Producer<Managed>*>(self->manager_ctx);
    ++*owner->deletions;
    delete owner;
  };
  producer->managed.dl_tensor = {.data = producer->data.data(),
      .device = kHost,
      .ndim = 2,
      .dtype = kInt32,
      .shape = producer->shape.data(),
      .strides = producer->strides.data(),
      .byte_offset = 0};
  if constexpr (std::is_same_v<Managed, ManagedTensorVersioned>)
    producer->managed.version = kVersion;
  return producer;
}

NDArray take(DLManagedTensor& managed, Access access) { return import_legacy(&managed, access); }
NDArray take(ManagedTensorVersioned& managed, Access access) {
  return import_versioned(&managed, access);
}

template <class Managed> class DlpackImport : public testing::Test {
 protected:
  /// A producer changed by `change` is refused with this text and still belongs to its owner.
  template <class Change> void expect_refused(
      const std::string& text, const Change& change, Access access = Access::kRead) {
    int deletions = 0;
    auto* producer = make<Managed>(deletions);
    change(*producer);
    ndarray::expect_refused(text, [&] { return take(producer->managed, access); });
    EXPECT_EQ(deletions, 0);
    producer->managed.deleter(&producer->managed);
    EXPECT_EQ(deletions, 1);
  }
};

using Forms = testing::Types<DLManagedTensor, ManagedTensorVersioned>;
TYPED_TEST_SUITE(DlpackImport, Forms);

TYPED_TEST(DlpackImport, SharesTheMemoryAndDeletesOnce) {
  int deletions = 0;
  auto* producer = make<TypeParam>(deletions);
  const void* const memory = producer->data.data();
  NDArray array = take(producer->managed, Access::kWrite);
  EXPECT_EQ(array.data(), memory);
  EXPECT_EQ(static_cast<void*>(array.mutable_data()), memory);
  NDArray sharer = array;
  array.reset();
  EXPECT_EQ(deletions, 0);
  EXPECT_EQ(values_of(sharer), (std::vector{0, 1, 2, 3, 4, 5}));
  sharer.reset();
  EXPECT_EQ(deletions, 1);
}

TYPED_TEST(DlpackImport, DeletesWhenTheLastViewGoes) {
  int deletions = 0;
  {
    auto* producer = make<TypeParam>(deletions);
    NDArray array = take(producer->managed, Access::kWrite);
    NDArray view = array.view(std::vector<i64>{3}, std::vector<i64>{1}, 12);
    array.reset();
    EXPECT_EQ(deletions, 0);
    EXPECT_EQ(values_of(view), (std::vector{3, 4, 5}));
    set_first(view, 9);
    EXPECT_EQ(producer->data[3], 9) << "memory that was lent to be written to";
  }
  EXPECT_EQ(deletions, 1);
}

TYPED_TEST(DlpackImport, TakesProducersWithoutADeleter) {
  int deletions = 0;
  auto* heap = make<TypeParam>(deletions);
  heap->managed.deleter = nullptr;
  EXPECT_EQ(values_of(take(heap->managed, Access::kRead)), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(deletions, 0);
  delete heap;
}

TYPED_TEST(DlpackImport, AcceptsNullStridesAndEndsWhereItsElementsDo) {
  int deletions = 0;
  auto* producer = make<TypeParam>(deletions);
  producer->managed.dl_tensor.strides = nullptr;
  producer->managed.dl_tensor.byte_offset = 4;
  producer->shape = {2, 2};
  producer->managed.dl_tensor.shape = producer->shape.data();
  const NDArray array = take(producer->managed, Access::kRead);
  EXPECT_EQ(values_of(array), (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(array.strides()[0], 2);
  EXPECT_EQ(values_of(array.view(Extents{2}, Extents{-1}, 4)), (std::vector{2, 1}));
  EXPECT_THROW(array.view(Extents{1}, Extents{1}, -4), utils::ValueVerifyFatal);
  EXPECT_THROW(array.view(Extents{5}, Extents{1}), utils::ValueVerifyFatal);
}

TYPED_TEST(DlpackImport, AssumesNoAlignment) {
  int deletions = 0;
  auto* producer = make<TypeParam>(deletions);
  auto* bytes = reinterpret_cast<std::byte*>(producer->data.data());
  std::memmove(bytes + 1, bytes, 20);
  producer->managed.dl_tensor.byte_offset = 1;
  producer->shape = {5};
  producer->strides = {1};
  producer->managed.dl_tensor.shape = producer->shape.data();
  producer->managed.dl_tensor.strides = producer->strides.data();
  producer->managed.dl_tensor.ndim = 1;
  NDArray array = take(producer->managed, Access::kWrite);
  EXPECT_EQ(values_of(array), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(array.mutable_data(), bytes + 1);
}

TYPED_TEST(DlpackImport, NeverWritesWhatMayOnlyBeRead) {
  int deletions = 0;
  auto* producer = make<TypeParam>(deletions);
  NDArray array = take(producer->managed, Access::kRead);
  NDArray view = array.view(Extents{2}, Extents{1});
  EXPECT_TRUE(array.is_read_only() && view.is_read_only());
  set_first(array, 9);
  EXPECT_FALSE(array.is_read_only());
  EXPECT_EQ(deletions, 0);
  EXPECT_EQ(producer->data[0], 0);
  set_first(view, 8);
  EXPECT_EQ(deletions, 1) << "both writers have left the lent memory";
  EXPECT_EQ(values_of(array), (std::vector{9, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(view), (std::vector{8, 1}));
}

TYPED_TEST(DlpackImport, RefusesToWriteToElementsThatShareMemory) {
  const auto with_strides = [](std::vector<i64> strides) {
    return [strides = std::move(strides)](Producer<TypeParam>& producer) {
      producer.strides = strides;
      producer.managed.dl_tensor.strides = producer.strides.data();
    };
  };
  for (const std::vector<i64>& strides : {std::vector<i64>{0, 1}, {3, 0}, {1, 1}, {2, 1}}) {
    this->expect_refused(
        "cannot be written to: its elements share memory", with_strides(strides), Access::kWrite);
    int deletions = 0;
    auto* producer = make<TypeParam>(deletions);
    with_strides(strides)(*producer);
    EXPECT_TRUE(take(producer->managed, Access::kRead).is_read_only());
    EXPECT_EQ(deletions, 1);
  }
}

TYPED_TEST(DlpackImport, RefusesShapesThatAreNone) {
  using P = Producer<TypeParam>;
  this->expect_refused("-1 dimensions", [](P& p) { p.managed.dl_tensor.ndim = -1; });
  this->expect_refused("33 dimensions", [](P& p) { p.managed.dl_tensor.ndim = 33; });
  this->expect_refused("no shape", [](P& p) { p.managed.dl_tensor.shape = nullptr; });
  this->expect_refused("extent -2 on axis 0", [](P& p) { p.shape[0] = -2; });
  this->expect_refused("stride -3 along axis 0", [](P& p) { p.strides[0] = -3; });
  this->expect_refused("more elements than int64 counts bytes for", [](P& p) {
    p.shape[0] = i64{1} << 62;
    p.shape[1] = 4;
  });
  this->expect_refused("does not fit int64", [](P& p) { p.strides[0] = i64{1} << 62; });
}

TYPED_TEST(DlpackImport, RefusesElementsThatAreNoNumbers) {
  using P = Producer<TypeParam>;
  const auto with_type = [](DLDataType dtype) {
    return [dtype](P& p) { p.managed.dl_tensor.dtype = dtype; };
  };
  this->expect_refused("32 bits and 2 lanes", with_type({kDLInt, 32, 2}));
  this->expect_refused("32 bits and 0 lanes", with_type({kDLInt, 32, 0}));
  this->expect_refused("type code 4, 16 bits", with_type({kDLBfloat, 16, 1}));
  this->expect_refused("type code 5, 64 bits", with_type({kDLComplex, 64, 1}));
  this->expect_refused("type code 0, 4 bits", with_type({kDLInt, 4, 1}));
  this->expect_refused("type code 2, 8 bits", with_type({kDLFloat, 8, 1}));
}

TYPED_TEST(DlpackImport, RefusesMemoryThatIsNone) {
  using P = Producer<TypeParam>;
  this->expect_refused("no data", [](P& p) { p.managed.dl_tensor.data = nullptr; });
  for (const auto& [device, text] : {std::pair{DLDevice{kDLVulkan, 0}, "device type 7 0"},
           {DLDevice{kDLCPU, 3}, "device type 1 3"}})
    this->expect_refused(text, [d = device](P& p) { p.managed.dl_tensor.device = d; });
  this->expect_refused("bytes into its memory",
      [](P& p) { p.managed.dl_tensor.byte_offset = std::numeric_limits<std::uint64_t>::max(); });
  const std::string address = "the address of an imported element does not fit int64";
  this->expect_refused(
      address, [](P& p) { p.managed.dl_tensor.byte_offset = std::numeric_limits<i64>::max(); });
  // The first element has an address, and the last none.
  this->expect_refused(address, [](P& p) {
    p.managed.dl_tensor.byte_offset = static_cast<std::uint64_t>(std::numeric_limits<i64>::max()) -
        reinterpret_cast<std::uintptr_t>(p.data.data()) - 8;
  });
}

TYPED_TEST(DlpackImport, TakesWhatIsEmpty) {
  int deletions = 0;
  auto* producer = make<TypeParam>(deletions);
  producer->shape[1] = 0;
  producer->strides = {0, 0};
  producer->managed.dl_tensor.data = nullptr;
  EXPECT_TRUE(values_of(take(producer->managed, Access::kWrite)).empty());
  EXPECT_EQ(deletions, 1);
}

TEST(DlpackVersions, OnlyTheMajorOneCounts) {
  int deletions = 0;
  for (const Version version : {Version{0, 8}, Version{2, 0}, Version{77, 1}}) {
    auto* producer = make<ManagedTensorVersioned>(deletions);
    producer->managed.version = version;
    expect_refused("the imported tensor is of DLPack " + std::to_string(version.major) + "." +
            std::to_string(version.minor),
        [&] { return import_versioned(&producer->managed); });
    producer->managed.deleter(&producer->managed);
  }
  EXPECT_EQ(deletions, 3);
  auto* newer = make<ManagedTensorVersioned>(deletions);
  newer->managed.version = {1, 99};
  EXPECT_EQ(values_of(import_versioned(&newer->managed)).size(), 6u);
  EXPECT_EQ(deletions, 4);
}

TEST(DlpackAccess, IsWhatTheProducerOffers) {
  int deletions = 0;
  auto* producer = make<ManagedTensorVersioned>(deletions);
  EXPECT_FALSE(import_versioned(&producer->managed).is_read_only());
  producer = make<ManagedTensorVersioned>(deletions);
  // Another flag beside it: a copy that the producer made.
  producer->managed.flags = kReadOnly | 2;
  EXPECT_TRUE(import_versioned(&producer->managed).is_read_only());
  auto* legacy = make<DLManagedTensor>(deletions);
  EXPECT_TRUE(import_legacy(&legacy->managed).is_read_only());
  EXPECT_EQ(deletions, 3);
  expect_refused("null", [] { return import_versioned(nullptr); });
  expect_refused("null", [] { return import_legacy(nullptr); });
}

TEST(DlpackExport, KeepsTheMemoryUntilItsDeleterIsCalled) {
  NDArray array = numbers({2, 3}, {0, 1, 2, 3, 4, 5});
  const NDArray observer = array;
  ManagedTensorVersioned* managed = export_versioned(array, Access::kRead);
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->flags, kReadOnly);
  EXPECT_EQ(managed->dl_tensor.data, observer.data());
  EXPECT_EQ(observer.use_count(), 3);
  array.reset();
  EXPECT_EQ(observer.use_count(), 2);
  managed->deleter(managed);
  EXPECT_EQ(observer.use_count(), 1);
}

TEST(DlpackExport, FoldsTheOffsetIntoTheAddress) {
  NDArray array = numbers({2, 3}, {0, 1, 2, 3, 4, 5});
  NDArray view = array.view(std::vector<i64>{2}, std::vector<i64>{3}, 8);
  ManagedTensorVersioned* managed = export_versioned(view, Access::kRead);
  EXPECT_EQ(managed->dl_tensor.data, array.data() + 8);
  EXPECT_EQ(managed->dl_tensor.byte_offset, 0u);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  managed->deleter(managed);
}

TEST(DlpackExport, WritersShareWithOneArrayAlone) {
  NDArray array = numbers({2, 3}, {0, 1, 2, 3, 4, 5});
  const NDArray sharer = array;
  ManagedTensorVersioned* managed = export_versioned(array, Access::kWrite);
  EXPECT_EQ(managed->flags, 0u);
  EXPECT_EQ(managed->dl_tensor.data, array.data());
  EXPECT_NE(managed->dl_tensor.data, sharer.data());
  DLManagedTensor* legacy = export_legacy(array);
  EXPECT_EQ(legacy->dl_tensor.data, array.data());
  // Another consumer already shares the memory, so the array detaches itself.
  EXPECT_NE(legacy->dl_tensor.data, managed->dl_tensor.data);
  managed->deleter(managed);
  legacy->deleter(legacy);
}

TEST(DlpackExport, ComesBackAsItWas) {
  NDArray array = numbers({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::byte* const memory = array.data();
  const NDArray again = import_versioned(export_versioned(array, Access::kRead));
  EXPECT_EQ(again.data(), memory);
  EXPECT_TRUE(again.is_read_only());
  array.reset();
  EXPECT_EQ(values_of(again), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(DlpackExport, RefusesWhatCannotBeLent) {
  int deletions = 0;
  auto* producer = make<ManagedTensorVersioned>(deletions);
  NDArray read_only = import_versioned(&producer->managed, Access::kRead);
  const std::string text = "a read-only array cannot be lent to be written to";
  expect_refused(text, [&] { return export_legacy(read_only); });
  expect_refused(text, [&] { return export_versioned(read_only, Access::kWrite); });
  NDArray null;
  expect_refused("null", [&] { return export_legacy(null); });
  expect_refused("null", [&] { return export_versioned(null, Access::kRead); });
}

}  // namespace
}  // namespace lockstep::ndarray::dlpack
