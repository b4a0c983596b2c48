/// Arrays saved to and loaded from parameter files.
#include "containers/array/dictionary.h"

#include <gtest/gtest.h>

#include "containers/tests/numbers.h"
#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::ndarray {
namespace {

NDArray int8_scalar(std::int8_t value) {
  NDArray array = NDArray::empty({}, {kDLInt, 8, 1});
  copy_from_bytes(&value, 1, array.tensor());
  return array;
}

TEST(Dictionary, TheWorkedExampleIsWrittenAndRead) {
  const NamedArray entries[] = {{"w", numbers({2, 2}, {1, 2, -3, 4})}, {"b0", int8_scalar(7)}};
  EXPECT_EQ(save(entries), params::worked_example());
  const std::vector<NamedArray> loaded = load(params::worked_example());
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].name, "w");
  EXPECT_EQ(values_of(loaded[0].array), (Values{1, 2, -3, 4}));
  EXPECT_EQ(loaded[1].array.rank(), 0);
  EXPECT_EQ(*loaded[1].array.data(), std::byte{7});
}

TEST(Dictionary, OtherLayoutsAreCompactedOnSaving) {
  const NDArray w = numbers({2, 2}, {1, 2, -3, 4});
  const NDArray padded = numbers({3, 3}, {0, 0, 0, 1, 2, 0, -3, 4, 0});
  const NDArray reversed = numbers({4}, {4, -3, 2, 1});
  const NDArray values = numbers({2, 2}, {1, 2, -3, 4});
  NDArray described = NDArray::empty(paddedBufferDescriptor(
      {values.dtype().code, values.dtype().bits}, Order::kC, {2, 2}, {3, 5}, {1, 4}));
  copy(values.tensor(), described.mutable_tensor());
  for (const NDArray& same : {numbers({2, 2}, {1, -3, 2, 4}).view(Extents{2, 2}, Extents{1, 2}),
           padded.view(Extents{2, 2}, Extents{3, 1}, 12),
           reversed.view(Extents{2, 2}, Extents{-2, -1}, 12), described}) {
    EXPECT_FALSE(same.is_compact());
    const NamedArray entries[] = {{"w", same}, {"b0", int8_scalar(7)}};
    EXPECT_EQ(save(entries), params::worked_example());
  }
}

TEST(Dictionary, SavingSharesWhatIsCompactAlready) {
  NDArray array = numbers({2}, {1, 2});
  const params::Tensor tensor = to_params(array);
  EXPECT_EQ(tensor.bytes.data(), array.data());
  EXPECT_EQ(array.use_count(), 2);
  set_first(array, 9);
  EXPECT_EQ(tensor, params::from_int32({2}, Values{1, 2})) << "a writer changed a saved tensor";
}

TEST(Dictionary, AFileIsReadIntoMemoryThatAWriterLeaves) {
  const params::TemporaryFile file(params::worked_example());
  std::vector<NamedArray> loaded = load_file(file.path());
  ASSERT_EQ(loaded.size(), 2u);
  NDArray& w = loaded[0].array;
  EXPECT_TRUE(w.is_read_only());
  EXPECT_EQ(values_of(w), (Values{1, 2, -3, 4}));
  set_first(w, 5);
  EXPECT_EQ(values_of(w), (Values{5, 2, -3, 4}));
  loaded.erase(loaded.begin());
  EXPECT_EQ(*loaded[0].array.data(), std::byte{7});
}

TEST(Dictionary, SavingAFileAndLoadingItGivesTheSameBytes) {
  const params::TemporaryFile first(params::worked_example());
  const params::TemporaryFile second;
  save_file(second.path(), load_file(first.path()));
  EXPECT_EQ(save(load_file(second.path())), params::worked_example());
}

TEST(Dictionary, AnArrayAloneIsARecordOfTheFile) {
  const auto file = params::worked_example();
  const std::vector<std::byte> record(file.begin() + 51, file.begin() + 123);
  const NDArray w = numbers({2, 2}, {1, 2, -3, 4});
  EXPECT_EQ(save(w), record);
  EXPECT_EQ(save(numbers({2, 2}, {1, -3, 2, 4}).view(Extents{2, 2}, Extents{1, 2})), record);
  EXPECT_EQ(values_of(load_array(record)), (Values{1, 2, -3, 4}));
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_THROW(load_array(std::span(record).first(size)), params::Error) << size;
  }
  std::vector<std::byte> longer = record;
  longer.push_back(std::byte{0});
  EXPECT_THROW(load_array(longer), params::Error);
  EXPECT_EQ(values_of(load_array(longer, {.lenient = true})), (Values{1, 2, -3, 4}));
  EXPECT_THROW(save(NDArray()), utils::ValueVerifyFatal);
}

TEST(Dictionary, WhatCannotBeSavedIsRefused) {
  const NamedArray null[] = {{"x", NDArray()}};
  EXPECT_THROW(save(null), utils::ValueVerifyFatal);
  const NamedArray twice[] = {{"x", int8_scalar(1)}, {"x", int8_scalar(2)}};
  EXPECT_THROW(save(twice), params::Error);
}

TEST(Dictionary, AFaultyFileGivesNoArrays) {
  auto file = params::worked_example();
  file.push_back(std::byte{0});
  EXPECT_THROW(load(file), params::Error);
  EXPECT_EQ(load(file, {.lenient = true}).size(), 2u);
}

}  // namespace
}  // namespace lockstep::ndarray
