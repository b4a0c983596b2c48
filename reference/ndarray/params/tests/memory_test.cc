/// Nothing is allocated from a declared number before it is compared with the bytes that remain.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "reference/ndarray/params/tests/temporary_file.h"
#include "reference/ndarray/params/tests/worked_example.h"
#include "reference/ndarray/tests/counted_memory.h"

namespace lockstep::params {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 60;
constexpr std::size_t kSmall = std::size_t{64} << 10;

/// Reads a file that must be rejected, from memory and from disk, in next to no memory.
void expect_cheap_rejection(const File& file, std::string_view label) {
  const TemporaryFile stored(file);
  const auto rejected = [&](auto call) {
    try {
      call();
      ADD_FAILURE() << label << " was not noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.label(), label);
    }
  };
  EXPECT_LT(allocated_by([&] { rejected([&] { read(file); }); }), kSmall) << label;
  EXPECT_LT(allocated_by([&] { rejected([&] { read_file(stored.path()); }); }), kSmall) << label;
}

TEST(ParamsMemory, TheCounterCounts) {
  EXPECT_GE(allocated_by([] { File(kSmall, std::byte{1}); }), kSmall);
  EXPECT_GE(allocated_by([] {
              ::operator delete (::operator new (99, std::align_val_t{64}), 99,
                                 std::align_val_t{64});
            }),
            99u);
}

TEST(ParamsMemory, ShortFilesThatDeclareMuchAreCheapToReject) {
  const File forty = prefix(worked_example(), 40);
  expect_cheap_rejection(patched(forty, 16, 8, kHuge), "name_count");
  expect_cheap_rejection(patched(patched(forty, 16, 8, 1), 24, 8, kHuge), "name_length");
  const File empty_name = patched(patched(forty, 16, 8, 1), 24, 8, 0);
  expect_cheap_rejection(patched(empty_name, 32, 8, kHuge), "value_count");
  const File extent = patched(worked_example(), 80, 1, 8);
  const File large = patched(patched(extent, 83, 8, kHuge), 91, 8, 1);
  expect_cheap_rejection(patched(large, 99, 8, kHuge), "data_beyond");
  expect_cheap_rejection(patched(worked_example(), 75, 4, 0x7FFFFFFF), "ndim");
}

TEST(ParamsMemory, NamesThatFailEarlyCostLittle) {
  // As many names as the file has room for, all of them empty: the second one is a duplicate.
  File file = prefix(worked_example(), 24);
  file.resize(std::size_t{1} << 20);
  const auto count = static_cast<std::int64_t>((file.size() - 24) / 8);
  expect_cheap_rejection(patched(file, 16, 8, count), "duplicate_name");
}

TEST(ParamsMemory, DataIsAllocatedOnce) {
  constexpr std::size_t kData = std::size_t{8} << 20;
  const std::vector<NamedTensor> tensors = {
      {"a", {{0, 8}, {kData / 2}, Bytes::own(File(kData / 2, std::byte{3}))}},
      {"b", {{0, 8}, {kData / 2}, Bytes::own(File(kData / 2, std::byte{4}))}}};
  File file;
  EXPECT_LT(allocated_by([&] { file = write(tensors); }), kData + kSmall);
  const TemporaryFile stored(file);
  Params params;
  EXPECT_LT(allocated_by([&] { params = read_file(stored.path()); }), kData + kSmall);
  EXPECT_EQ(params.tensors, tensors);
  EXPECT_LT(allocated_by([&] { params = read(file); }), kSmall);
  EXPECT_EQ(params.tensors, tensors);
  EXPECT_LT(allocated_by([&] { write_file(stored.path(), tensors); }), kSmall);
}

/// The most memory this process has ever held.
std::size_t peak_bytes() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(ParamsMemory, AnEndlessStreamWithoutMagicIsNotCollected) {
  const std::size_t before = peak_bytes();
  try {
    read_file("/dev/zero");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.label(), "magic");
    EXPECT_EQ(error.offset(), 0u);
  }
  EXPECT_LT(peak_bytes() - before, std::size_t{16} << 20);
}

}  // namespace
}  // namespace lockstep::params
