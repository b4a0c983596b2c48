/// Nothing is allocated from a declared number before it is compared with the bytes that remain.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "containers/array/dictionary.h"
#include "containers/memory/pool.h"
#include "containers/tests/counted_memory.h"
#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;

/// Reads a file that must be rejected, from memory and from disk, in next to no memory.
void expect_cheap_rejection(const File& file, std::string_view label) {
  const TemporaryFile stored(file);
  const auto rejected = [&](auto call) { EXPECT_EQ(label_of(call), label); };
  EXPECT_LT(allocated_by([&] { rejected([&] { read(file); }); }), kSmall) << label;
  EXPECT_LT(allocated_by([&] { rejected([&] { read_file(stored.path()); }); }), kSmall) << label;
}

TEST(ParamsMemory, TheCounterCounts) {
  EXPECT_GE(allocated_by([] { File(kSmall, std::byte{1}); }), kSmall);
  const auto aligned = [] {
    constexpr std::align_val_t kAlignment{64};
    ::operator delete(::operator new(99, kAlignment), kAlignment);
  };
  EXPECT_GE(allocated_by(aligned), 99u);
}

/// A file of one tensor without a name, whose numbers are at most 40 bytes away: the name's length
/// stands at 24, the number of values at 32 and the record at 40.
File nameless(std::int64_t rank, std::initializer_list<std::int64_t> shape, std::int64_t size) {
  File file = prefix(worked_example(), 24);
  file.resize(40 + 40 + 8 * shape.size());
  file = patched(patched(file, 16, 8, 1), 32, 8, 1);
  file = patched(patched(file, 40, 8, static_cast<std::int64_t>(kRecordMagic)), 56, 4, 1);
  file = patched(patched(file, 64, 4, rank), 68, 4, 0x10800);
  std::size_t offset = 72;
  for (const std::int64_t extent : shape) {
    file = patched(file, offset, 8, extent);
    offset += 8;
  }
  return patched(file, offset, 8, size);
}

TEST(ParamsMemory, ShortFilesThatDeclareMuchAreCheapToReject) {
  const File forty = prefix(nameless(0, {}, 1), 40);
  ASSERT_EQ(forty.size(), 40u);
  expect_cheap_rejection(patched(forty, 16, 8, kHuge), "name_count");
  expect_cheap_rejection(patched(forty, 24, 8, kHuge), "name_length");
  expect_cheap_rejection(patched(forty, 32, 8, kHuge), "value_count");
  expect_cheap_rejection(nameless(0x7FFFFFFF, {}, 0), "ndim");
  expect_cheap_rejection(nameless(32, {}, 0), "shape_beyond");
  expect_cheap_rejection(nameless(1, {kHuge}, kHuge), "data_beyond");
  expect_cheap_rejection(nameless(2, {kHuge, kHuge}, 0), "shape_overflow");
  expect_cheap_rejection(nameless(2, {1, kHuge}, kHuge), "data_beyond");
  expect_cheap_rejection(nameless(0, {}, kHuge), "size");
}

TEST(ParamsMemory, NamesThatFailEarlyCostLittle) {
  // As many names as the file has room for, all of them empty: the second one is a duplicate.
  File file = prefix(worked_example(), 24);
  file.resize(std::size_t{1} << 20);
  const auto count = static_cast<std::int64_t>((file.size() - 24) / 8);
  expect_cheap_rejection(patched(file, 16, 8, count), "duplicate_name");
}

TEST(ParamsMemory, AHundredMegabytesAreAllocatedOnceToBeRead) {
  constexpr std::size_t kEach = 500'000, kTensors = 200;
  constexpr std::size_t kData = kEach * kTensors;
  const Bytes shared = Bytes::own(File(kEach, std::byte{3}));
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < kTensors; ++i)
    tensors.push_back({"w" + std::to_string(i), {{0, 8}, {kEach}, shared}});
  const TemporaryFile stored;
  EXPECT_LT(allocated_by([&] { write_file(stored.path(), tensors); }), kSmall);
  Params params;
  const std::size_t blocks = kTensors * ndarray::BlockPool::block_bytes(kEach);
  ASSERT_LT(blocks, kData + kData / 16);
  EXPECT_LT(allocated_by([&] { params = read_file(stored.path()); }), blocks + 2 * kSmall);
  EXPECT_EQ(params.tensors, tensors);
  File file;
  EXPECT_LT(allocated_by([&] { file = write(tensors); }), kData + kSmall);
  EXPECT_LT(allocated_by([&] { params = read(file); }), 2 * kSmall);
  EXPECT_EQ(params.tensors, tensors);
}

TEST(ParamsMemory, TheFileIsNamedWhereMemoryRunsOut) {
  const TemporaryFile stored(worked_example());
  EXPECT_GT(times_named_without_memory(stored.path(), [&] { read_file(stored.path()); }), 5);
  EXPECT_GT(
      times_named_without_memory(stored.path(), [&] { ndarray::load_file(stored.path()); }), 10);
}

/// The most memory this process has ever held.
std::size_t peak_bytes() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(ParamsMemory, AnEndlessStreamWithoutMagicIsNotCollected) {
  const std::size_t before = peak_bytes();
  expect_error({"magic", 0, {}, {}}, [] { read_file("/dev/zero"); });
  EXPECT_LT(peak_bytes() - before, std::size_t{16} << 20);
}

}  // namespace
}  // namespace lockstep::params
