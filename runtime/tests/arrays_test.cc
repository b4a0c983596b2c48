/// Misuse of the C interface: every call answers with a status and a text.

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "runtime/tests/failure.h"

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// An int32 array, freed with this object.
class Array {
 public:
  explicit Array(std::vector<int64_t> shape) {
    EXPECT_EQ(CVMArrayAlloc(shape.data(), static_cast<int>(shape.size()), 0, 32, 1, 1, 0, &handle),
        CVM_OK)
        << last_error();
  }
  ~Array() { EXPECT_EQ(CVMArrayFree(handle), CVM_OK) << last_error(); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  CVMArrayHandle handle = nullptr;
};

struct Spec {
  std::vector<int64_t> shape{2, 3};
  int code = 0, bits = 32, lanes = 1, device_type = 1, device_id = 0;
  int ndim = -2;  ///< -2: as many as the shape has
};

void expect_refused(const Spec& spec, const char* word, int status = CVM_LOGIC) {
  int64_t nothing = 0;
  auto* out = reinterpret_cast<CVMArrayHandle>(&nothing);
  const int ndim = spec.ndim == -2 ? static_cast<int>(spec.shape.size()) : spec.ndim;
  expect_failure(CVMArrayAlloc(spec.shape.data(), ndim, spec.code, spec.bits, spec.lanes,
                     spec.device_type, spec.device_id, &out),
      word, status);
  EXPECT_EQ(out, nullptr) << "a failed call left something behind";
}

TEST(CvmAlloc, WhatIsNoArrayIsRefused) {
  expect_refused({.shape = {2, -1}}, "extent -1");
  expect_refused({.shape = {kMost, 2}}, "more elements");
  expect_refused({.shape = {kMost / 4 + 1}}, "more elements");
  expect_refused({.shape = {0, kMost, 2}}, "more elements");
  expect_refused({.ndim = -1}, "ndim is -1");
  expect_refused({.ndim = INT_MIN}, "ndim");
  expect_refused({.shape = std::vector<int64_t>(33, 1)}, "33 dimensions");
  expect_refused({.code = 3}, "type code 3");
  expect_refused({.code = 4, .bits = 16}, "type code 4");
  expect_refused({.code = 256}, "dtype_code is 256");
  expect_refused({.code = -1}, "dtype_code is -1");
  expect_refused({.bits = 0}, "0 bits");
  expect_refused({.bits = 1}, "1 bits");
  expect_refused({.bits = 7}, "7 bits");
  expect_refused({.bits = 288}, "dtype_bits is 288");
  expect_refused({.code = 2, .bits = 8}, "8 bits");
  expect_refused({.lanes = 0}, "0 lanes");
  expect_refused({.lanes = 4}, "4 lanes");
  expect_refused({.lanes = 65537}, "dtype_lanes is 65537");
  expect_refused({.device_type = 0}, "device type 0");
  expect_refused({.device_type = 7}, "device type 7");
  expect_refused({.device_type = -1}, "device type -1");
  expect_refused({.device_type = INT_MAX}, "device type");
  expect_refused({.device_id = 1}, "device type 1 1");
  expect_refused({.device_type = 2, .device_id = -1}, "cuda -1");
}

TEST(CvmAlloc, WantOfMemoryIsTheMachinesFault) {
  expect_refused({.shape = {kMost / 4}}, std::to_string(kMost / 4 * 4).c_str(), CVM_RUNTIME);
}

TEST(CvmBorrow, UsesTheCallersMemory) {
  std::array<int32_t, 6> memory{1, 2, 3, 4, 5, 6};
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  DLTensor columns{memory.data(), {kDLCPU, 0}, 2, {kDLInt, 32, 1}, shape, strides, 0};
  CVMArrayHandle handle = nullptr;
  ASSERT_EQ(CVMArrayBorrow(&columns, &handle), CVM_OK) << last_error();
  EXPECT_EQ(handle->data, memory.data());
  std::array<int32_t, 6> got{};
  memory[1] = 20;
  EXPECT_EQ(CVMArrayCopyToBytes(handle, got.data(), sizeof got), CVM_OK) << last_error();
  EXPECT_EQ(got, (std::array<int32_t, 6>{1, 4, 20, 5, 3, 6}));
  got = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(CVMArrayCopyFromBytes(handle, got.data(), sizeof got), CVM_OK) << last_error();
  EXPECT_EQ(CVMArrayFree(handle), CVM_OK) << last_error();
  EXPECT_EQ(memory, (std::array<int32_t, 6>{1, 3, 5, 2, 4, 6}));
  expect_failure(CVMArrayFree(handle), "no handle");

  expect_failure(CVMArrayBorrow(nullptr, &handle), "tensor is null");
  expect_failure(CVMArrayBorrow(&columns, nullptr), "out is null");
  shape[0] = -1;
  expect_failure(CVMArrayBorrow(&columns, &handle), "extent -1");
  EXPECT_EQ(handle, nullptr);
  shape[0] = 3;
  columns.data = nullptr;
  expect_failure(CVMArrayBorrow(&columns, &handle), "no data");
}

TEST(CvmAlloc, NullPointersAreRefused) {
  CVMArrayHandle out = nullptr;
  const int64_t shape[] = {2};
  expect_failure(CVMArrayAlloc(shape, 1, 0, 32, 1, 1, 0, nullptr), "out is null");
  expect_failure(CVMArrayAlloc(nullptr, 1, 0, 32, 1, 1, 0, &out), "shape is null");
  ASSERT_EQ(CVMArrayAlloc(nullptr, 0, 0, 32, 1, 1, 0, &out), CVM_OK) << "a scalar has no shape";
  EXPECT_EQ(CVMArrayFree(out), CVM_OK);
}

TEST(CvmAlloc, EveryElementTypeIsOffered) {
  const int64_t shape[] = {3};
  for (const auto& [code, all_bits] : std::initializer_list<std::pair<int, std::vector<int>>>{
           {0, {8, 16, 32, 64}}, {1, {8, 16, 32, 64}}, {2, {16, 32, 64}}}) {
    for (const int bits : all_bits) {
      CVMArrayHandle array = nullptr;
      ASSERT_EQ(CVMArrayAlloc(shape, 1, code, bits, 1, 1, 0, &array), CVM_OK) << last_error();
      EXPECT_EQ(array->dtype.code, code);
      EXPECT_EQ(array->dtype.bits, bits);
      EXPECT_EQ(array->dtype.lanes, 1);
      const std::vector<char> zeros(static_cast<std::size_t>(3 * bits / 8));
      EXPECT_EQ(CVMArrayCopyFromBytes(array, zeros.data(), zeros.size()), CVM_OK) << last_error();
      EXPECT_EQ(CVMArrayFree(array), CVM_OK);
    }
  }
}

/// Expects that every function that takes a handle refuses this one, next to a good one.
void expect_no_handle(DLTensor* handle) {
  constexpr const char* kWord = "is no handle of an array, or no longer";
  const Array good({1});
  std::array<int32_t, 1> values{7};
  expect_failure(CVMArrayFree(handle), kWord);
  expect_failure(CVMArrayCopyFromBytes(handle, values.data(), 4), kWord);
  expect_failure(CVMArrayCopyToBytes(handle, values.data(), 4), kWord);
  expect_failure(CVMArrayCopyFromTo(handle, good.handle, nullptr), "the source of a");
  expect_failure(CVMArrayCopyFromTo(handle, good.handle, nullptr), kWord);
  expect_failure(CVMArrayCopyFromTo(good.handle, handle, nullptr), "the target of a");
  expect_failure(CVMArrayCopyFromTo(good.handle, handle, nullptr), kWord);
  const void* params[] = {"good", good.handle, "bad", handle};
  CVMByteArray file{};
  expect_failure(CVMSaveParamsDict(params, 4, &file), "tensor \"bad\" is no handle");
  std::size_t size = 0;
  expect_failure(
      CVMSaveParamsDictSized(params, 4, nullptr, 0, &size), "tensor \"bad\" is no handle");
  EXPECT_EQ(values[0], 7);
}

TEST(CvmHandles, WhatWasNeverMadeIsRefused) {
  int64_t shape[] = {1};
  int32_t value = 5;
  DLTensor own{};
  own.data = &value;
  own.device = {kDLCPU, 0};
  own.ndim = 1;
  own.dtype = {kDLInt, 32, 1};
  own.shape = shape;
  expect_no_handle(&own);
  EXPECT_EQ(value, 5);
  const Array array({1});
  DLTensor copy = *array.handle;
  expect_no_handle(&copy);
  // The library reads nothing at an address before it knows that this is a handle.
  for (const std::uintptr_t address : {std::uintptr_t{1}, ~std::uintptr_t{0}, std::uintptr_t{4096}})
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that was never a handle is the case.
    expect_no_handle(reinterpret_cast<DLTensor*>(address));
}

TEST(CvmHandles, WhatWasFreedIsRefused) {
  for (const int64_t elements : {1, 1000}) {
    std::vector<DLTensor*> freed;
    for (int k = 0; k < 3; ++k) {
      CVMArrayHandle array = nullptr;
      ASSERT_EQ(CVMArrayAlloc(&elements, 1, 0, 32, 1, 1, 0, &array), CVM_OK);
      freed.push_back(array);
    }
    for (DLTensor* array : freed) ASSERT_EQ(CVMArrayFree(array), CVM_OK);
    const std::vector<int32_t> values(static_cast<std::size_t>(elements), -1);
    for (DLTensor* array : freed)
      expect_failure(CVMArrayCopyFromBytes(array, values.data(), 4 * values.size()),
          "is no handle of an array, or no longer");
    // The good array may get the address that was freed last, not this one.
    expect_no_handle(freed.front());
    // The arguments of the refused calls have not damaged the memory of later arrays.
    const Array again({elements}), another({elements}), third({elements});
    EXPECT_EQ(CVMArrayCopyFromBytes(third.handle, values.data(), 4 * values.size()), CVM_OK);
  }
}

// A call that races with the end of an array comes wholly before or wholly after it.
TEST(CvmHandles, FreeingInAnotherThreadEndsNoCopy) {
  for (int round = 0; round < 50; ++round) {
    std::vector<int32_t> values(5000, round);
    const int64_t elements = 5000;
    CVMArrayHandle array = nullptr;
    ASSERT_EQ(CVMArrayAlloc(&elements, 1, 0, 32, 1, 1, 0, &array), CVM_OK);
    ASSERT_EQ(CVMArrayCopyFromBytes(array, values.data(), 4 * values.size()), CVM_OK);
    std::vector<int32_t> found(values.size(), -1);
    int status = CVM_RUNTIME;
    std::thread reader([&] { status = CVMArrayCopyToBytes(array, found.data(), 20000); });
    EXPECT_EQ(CVMArrayFree(array), CVM_OK);
    reader.join();
    if (status == CVM_OK)
      EXPECT_EQ(found, values);
    else
      EXPECT_EQ(status, CVM_LOGIC);
  }
}

TEST(CvmCopy, SizesAndPointersAreExamined) {
  const Array array({2, 3});
  std::array<int32_t, 7> values{};
  for (const std::size_t bytes :
      {std::size_t{0}, std::size_t{23}, std::size_t{25}, ~std::size_t{0}}) {
    expect_failure(CVMArrayCopyFromBytes(array.handle, values.data(), bytes), "24");
    expect_failure(CVMArrayCopyToBytes(array.handle, values.data(), bytes), "24");
  }
  expect_failure(CVMArrayCopyFromBytes(array.handle, nullptr, 24), "null");
  expect_failure(CVMArrayCopyToBytes(array.handle, nullptr, 24), "null");
  expect_failure(CVMArrayCopyFromBytes(nullptr, values.data(), 24), "null");
  expect_failure(CVMArrayCopyToBytes(nullptr, values.data(), 24), "null");
  const Array empty({0});
  EXPECT_EQ(CVMArrayCopyFromBytes(empty.handle, nullptr, 0), CVM_OK) << last_error();
}

TEST(CvmCopy, ArraysOfDifferentKindAreRefused) {
  const Array array({2, 3});
  const Array transposed({3, 2});
  const Array flat({6});
  CVMArrayHandle floats = nullptr;
  ASSERT_EQ(CVMArrayAlloc(array.handle->shape, 2, 2, 32, 1, 1, 0, &floats), CVM_OK);
  expect_failure(CVMArrayCopyFromTo(array.handle, transposed.handle, nullptr), "(3, 2)");
  expect_failure(CVMArrayCopyFromTo(array.handle, flat.handle, nullptr), "(6,)");
  expect_failure(CVMArrayCopyFromTo(array.handle, floats, nullptr), "type code 0");
  expect_failure(CVMArrayCopyFromTo(nullptr, array.handle, nullptr), "source");
  expect_failure(CVMArrayCopyFromTo(array.handle, nullptr, nullptr), "target");
  int stream = 0;
  expect_failure(CVMArrayCopyFromTo(array.handle, array.handle, &stream), "stream");
  EXPECT_EQ(CVMArrayCopyFromTo(array.handle, array.handle, nullptr), CVM_OK) << last_error();
  EXPECT_EQ(CVMArrayFree(floats), CVM_OK);
}

// Programs may write to the fields of a handle. The library honours what they write within the
// memory of the handle.
TEST(CvmCopy, FieldsOfAHandleStayWithinItsMemory) {
  const Array array({2, 3});
  const DLTensor before = *array.handle;
  std::array<int32_t, 6> values{1, 2, 3, 4, 5, 6};
  ASSERT_EQ(CVMArrayCopyFromBytes(array.handle, values.data(), 24), CVM_OK);
  const auto refused = [&](const char* word, auto damage) {
    damage(*array.handle);
    std::array<int32_t, 12> found{};
    expect_failure(CVMArrayCopyToBytes(array.handle, found.data(), 24), word);
    *array.handle = before;
  };
  int64_t larger[] = {2, 4}, outward[] = {3, -1};
  refused("from byte 4 to 28", [](DLTensor& t) { t.byte_offset = 4; });
  refused("byte_offset", [](DLTensor& t) { t.byte_offset = ~uint64_t{0}; });
  refused("from byte 0 to 28", [&](DLTensor& t) { t.shape = larger; });
  refused("from byte -8", [&](DLTensor& t) { t.strides = outward; });
  refused("no shape", [](DLTensor& t) { t.shape = nullptr; });
  refused("no data", [](DLTensor& t) { t.data = nullptr; });
  refused("dimensions", [](DLTensor& t) { t.ndim = 1000; });
  refused("dimensions", [](DLTensor& t) { t.ndim = -1; });
  refused("64 bits", [](DLTensor& t) {
    t.dtype.bits = 64;
    t.dtype.lanes = 2;
  });
  refused("cuda", [](DLTensor& t) { t.device = {kDLCUDA, 0}; });
  refused("device type 99", [](DLTensor& t) {
    const int foreign = 99;
    std::memcpy(&t.device.device_type, &foreign, sizeof(foreign));
  });

  int64_t one_row[] = {3}, reversed[] = {-1};
  array.handle->ndim = 1;
  array.handle->shape = one_row;
  array.handle->strides = reversed;
  array.handle->byte_offset = 20;
  std::array<int32_t, 3> found{};
  EXPECT_EQ(CVMArrayCopyToBytes(array.handle, found.data(), 12), CVM_OK) << last_error();
  EXPECT_EQ(found, (std::array<int32_t, 3>{6, 5, 4}));
  *array.handle = before;
}

TEST(CvmSave, FaultyListsAreRefused) {
  const Array array({2});
  CVMByteArray file{"x", 1};
  const void* params[] = {"a", array.handle, "a", array.handle};
  const auto refused = [&](const void** list, int size, const char* word) {
    file = {"x", 1};
    expect_failure(CVMSaveParamsDict(list, size, &file), word);
    EXPECT_EQ(file.data, nullptr);
    EXPECT_EQ(file.size, 0u);
    if (size < 0) return;
    std::array<char, 500> buffer{};
    std::size_t bytes = 1;
    expect_failure(CVMSaveParamsDictSized(
                       list, static_cast<std::size_t>(size), buffer.data(), buffer.size(), &bytes),
        word);
    EXPECT_EQ(bytes, 0u);
    EXPECT_EQ(buffer, (std::array<char, 500>{})) << "a refused file was begun";
  };
  refused(params, 3, "3 pointers");
  refused(params, -2, "params_size");
  refused(nullptr, 2, "params is null");
  refused(params, 4, "[duplicate_name]");
  const void* no_name[] = {nullptr, array.handle};
  refused(no_name, 2, "name 0 is null");
  const void* no_array[] = {"b", nullptr};
  refused(no_array, 2, "tensor \"b\" is null");
  const void* no_utf8[] = {"\xFF", array.handle};
  refused(no_utf8, 2, "[name_utf8]");
  expect_failure(CVMSaveParamsDict(params, 2, nullptr), "out is null");
  expect_failure(CVMSaveParamsDictSized(params, 2, nullptr, 0, nullptr), "size is null");
  std::size_t bytes = 0;
  expect_failure(CVMSaveParamsDictSized(params, 2, nullptr, 9, &bytes), "buffer");
  EXPECT_EQ(CVMSaveParamsDict(nullptr, 0, &file), CVM_OK) << last_error();
  EXPECT_EQ(file.size, 32u) << "the file without tensors";
}

TEST(CvmLoad, FaultyFilesGiveNothing) {
  const Array array({2});
  const void* params[] = {"a", array.handle};
  CVMByteArray file{};
  ASSERT_EQ(CVMSaveParamsDict(params, 2, &file), CVM_OK);
  const auto refused = [](const char* data, int size, const char* word) {
    int count = 9;
    void* some = &count;
    void **names = &some, **arrays = &some;
    expect_failure(CVMLoadParamsDict(data, size, &count, &names, &arrays), word);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(names, nullptr);
    EXPECT_EQ(arrays, nullptr);
    if (size < 0) return;
    std::size_t found = 9;
    CVMByteArray name{};
    CVMArrayHandle loaded = nullptr;
    expect_failure(
        CVMLoadParamsDictSized(data, static_cast<std::size_t>(size), &name, &loaded, 1, &found),
        word);
    EXPECT_EQ(found, 0u);
    EXPECT_EQ(loaded, nullptr);
  };
  for (int size = 0; size < static_cast<int>(file.size); ++size) refused(file.data, size, "[");
  refused(file.data, -1, "datalen");
  refused(nullptr, 5, "data is null");
  refused(nullptr, 0, "[too_short]");
  int count = 0;
  void** list = nullptr;
  const auto size = static_cast<int>(file.size);
  expect_failure(CVMLoadParamsDict(file.data, size, nullptr, &list, &list), "retNum");
  expect_failure(CVMLoadParamsDict(file.data, size, &count, nullptr, &list), "retNames");
  expect_failure(CVMLoadParamsDict(file.data, size, &count, &list, nullptr), "retValues");
  std::size_t found = 0;
  CVMByteArray name{};
  expect_failure(CVMLoadParamsDictSized(file.data, file.size, &name, nullptr, 1, &found), "values");
  expect_failure(
      CVMLoadParamsDictSized(file.data, file.size, nullptr, nullptr, 0, nullptr), "count");
}

TEST(CvmLastError, BelongsToItsThread) {
  expect_failure(CVMArrayFree(reinterpret_cast<CVMArrayHandle>(&errno)), "no handle");
  std::string other = "unset";
  std::thread([&] { other = last_error(); }).join();
  EXPECT_EQ(other, "") << "a failure of another thread shows";
  EXPECT_NE(last_error(), "");
}

}  // namespace
