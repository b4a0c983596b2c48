/// What a legal parameter file holds, from the worked example outward.
#include "containers/params/params.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

constexpr const char* kGoldenFile = "containers/tests/golden/worked_example.params";

/// A legal file of one tensor survives a round trip; answers what was read.
Tensor round_trip(Tensor tensor, const std::string& name = "x") {
  const std::vector<NamedTensor> tensors = {{name, std::move(tensor)}};
  const File file = write(tensors);
  EXPECT_EQ(file.size(), file_size(tensors));
  const Params params = read(file);
  EXPECT_EQ(params.tensors, tensors);
  EXPECT_EQ(write(params.tensors), file);
  return tensors[0].tensor;
}

TEST(Params, TensorsAreFoundByName) {
  const Params params = read(worked_example());
  EXPECT_EQ(params.trailing_bytes, 0u);
  EXPECT_EQ(params.find("w"), &params.tensors.at(0).tensor);
  EXPECT_EQ(params.find("b0"), &params.tensors.at(1).tensor);
  EXPECT_EQ(params.find("b"), nullptr);
  EXPECT_EQ(to_int32(*params.find("w")), (std::vector<std::int32_t>{1, 2, -3, 4}));
  EXPECT_EQ(to_int32(*params.find("b0")), (std::vector<std::int32_t>{7}));
}

TEST(Params, WorkedExampleIsWritten) {
  EXPECT_EQ(write(worked_tensors()), worked_example());
  const TemporaryFile file;
  write_file(file.path(), worked_tensors());
  EXPECT_EQ(content(file.path()), worked_example());
}

TEST(Params, EveryWayOfReadingAgrees) {
  const std::vector<NamedTensor> expected = worked_tensors();
  EXPECT_EQ(read_file(kGoldenFile).tensors, expected);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const File file = worked_example();
  ASSERT_EQ(::write(ends[1], file.data(), file.size()), static_cast<ssize_t>(file.size()));
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])).tensors, expected);
  ::close(ends[0]);
}

TEST(Params, TensorsOutliveTheBufferTheyShare) {
  Params params;
  {
    const File file = worked_example();
    params = read(Bytes::copy(file));
  }
  EXPECT_EQ(params.tensors, worked_tensors());
}

TEST(Params, TensorsDifferInTypeShapeAndData) {
  const Tensor tensor = {{0, 8}, {2, 1}, bytes_of({1, 2})};
  EXPECT_EQ(tensor, (Tensor{{0, 8}, {2, 1}, bytes_of({1, 2})}));
  EXPECT_FALSE(tensor == (Tensor{{1, 8}, {2, 1}, bytes_of({1, 2})}));
  EXPECT_FALSE(tensor == (Tensor{{0, 8}, {1, 2}, bytes_of({1, 2})}));
  EXPECT_FALSE(tensor == (Tensor{{0, 8}, {2, 1}, bytes_of({1, 3})}));
}

TEST(Params, TensorsOfAFileAreAligned) {
  for (const auto& [name, tensor] : read_file(kGoldenFile).tensors)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % 64, 0u) << name;
}

TEST(Params, SingleByteCorruptionsLoadOrAreLabelled) {
  File file = worked_example();
  int tried = 0;
  int legal = 0;
  for (std::byte& byte : file) {
    const std::byte original = byte;
    for (int value = 0; value < 256; ++value) {
      if (static_cast<std::byte>(value) == original) continue;
      byte = static_cast<std::byte>(value);
      ++tried;
      try {
        const Params params = read(file);
        ++legal;
        ASSERT_EQ(write(params.tensors), file);
      } catch (const Error& error) {
        ASSERT_LE(error.offset(), file.size());
      }
    }
    byte = original;
  }
  EXPECT_EQ(tried, 41820);
  EXPECT_EQ(legal, 4716);
}

TEST(Params, LenientReadingCountsTrailingBytes) {
  const File file = with_bytes(worked_example(), {0xb7, 0x9c, 0});
  const Params params = read(file, {.lenient = true});
  EXPECT_EQ(params.trailing_bytes, 3u);
  EXPECT_EQ(params.tensors, worked_tensors());
  const TemporaryFile stored(file);
  EXPECT_EQ(read_file(stored.path(), {.lenient = true}).trailing_bytes, 3u);
  EXPECT_EQ(read(worked_example(), {.lenient = true}).trailing_bytes, 0u);
  EXPECT_EQ(data_size(params.tensors), 17u);
}

TEST(Params, AnExtentBesideZeroMayBeTheLargest) {
  round_trip({{0, 64}, {0, 3, 0}, {}});
  round_trip({{0, 8}, {std::numeric_limits<std::int64_t>::max(), 0}, {}});
}

TEST(Params, NamesAreUtf8WithoutNul) {
  for (const char* name : {"", "a b\n\x7f", "\xC2\x80 \xED\x9F\xBF \xF4\x8F\xBF\xBF"})
    EXPECT_EQ(name_fault(name), nullptr) << printable(name);
  EXPECT_EQ(name_fault(std::string_view("a\0b", 3)), &reject("name_nul"));
  for (const char* name : {"\x80", "\xC2 ", "\xED\xA0\x80", "\xFF", "ok\xE2\x82"})
    EXPECT_EQ(name_fault(name), &reject("name_utf8")) << printable(name);
  round_trip({{0, 8}, {}, bytes_of({1})}, "");
  round_trip({{0, 8}, {}, bytes_of({1})}, "\xCE\xB1/\xE6\xB7\xB1\xE5\xBA\xA6");
}

/// A code point as UTF-8, of its bits alone.
std::string encoded(std::uint32_t c) {
  const auto byte = [](std::uint32_t b) { return static_cast<char>(b); };
  const auto tail = [&](int shift) { return byte(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), tail(6), tail(0)};
  return {byte(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(Params, CharactersAreTheCodePointsButSurrogates) {
  std::vector<std::string> all;
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c)
    if (c < 0xD800 || c > 0xDFFF) all.push_back(encoded(c));
  std::sort(all.begin(), all.end());
  const std::string_view edges = "\x7F\x80\xBF\xC0";
  for (int lead = 0; lead < 65536; ++lead) {
    for (std::size_t k = 0; k < edges.size() * edges.size(); ++k) {
      const std::string text{
          static_cast<char>(lead >> 8), static_cast<char>(lead), edges[k / 4], edges[k % 4]};
      std::size_t length = 1;
      while (length < 5 && !std::binary_search(all.begin(), all.end(), text.substr(0, length)))
        ++length;
      for (std::size_t size = 0; size <= text.size(); ++size)
        ASSERT_EQ(
            utf8_character(std::string_view(text).substr(0, size)), length <= size ? length : 0)
            << printable(text.substr(0, size));
    }
  }
}

TEST(Params, OverflowDoesNotDependOnTheOrderOfExtents) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr DType kInt8{0, 8};
  std::vector<std::int64_t> shape = {0, 2, kHalf, kHalf};
  do {
    EXPECT_FALSE(byte_size(shape, kInt8));
  } while (std::next_permutation(shape.begin(), shape.end()));
  EXPECT_EQ(byte_size(std::vector<std::int64_t>{kHalf, kHalf}, kInt8), std::int64_t{1} << 62);
}

TEST(ToInt32, WidensEveryIntegerType) {
  const auto values = [](DType dtype, std::initializer_list<int> bytes) {
    const Bytes data = bytes_of(bytes);
    const auto count = static_cast<std::int64_t>(data.size()) / dtype.bytes();
    return to_int32({dtype, {count}, data});
  };
  using List = std::vector<std::int32_t>;
  EXPECT_EQ(values({0, 8}, {0x80, 0xFF, 0x7F}), (List{-128, -1, 127}));
  EXPECT_EQ(values({1, 8}, {0x80, 0xFF}), (List{128, 255}));
  EXPECT_EQ(values({0, 16}, {0x00, 0x80, 0x34, 0x12}), (List{-32768, 0x1234}));
  EXPECT_EQ(values({1, 16}, {0x00, 0x80}), (List{32768}));
  EXPECT_EQ(values({0, 32}, {0, 0, 0, 0x80, 0x78, 0x56, 0x34, 0x12}),
      (List{std::numeric_limits<std::int32_t>::min(), 0x12345678}));
  EXPECT_EQ(values({1, 32}, {0xFF, 0xFF, 0xFF, 0x7F}), (List{0x7FFFFFFF}));
  EXPECT_EQ(values({0, 64}, {0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF}),
      (List{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(values({1, 64}, {9, 0, 0, 0, 0, 0, 0, 0}), (List{9}));
}

TEST(ToInt32, RefusesWhatIsNoInt32) {
  using utils::ValueVerifyFatal;
  const Bytes eight = bytes_of({0, 0, 0, 0x80, 0, 0, 0, 0});
  EXPECT_THROW(to_int32({{1, 32}, {2}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{0, 64}, {1}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{1, 64}, {1}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{2, 32}, {2}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{0, 24}, {}, bytes_of({1, 2, 3})}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{0, 32}, {3}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{0, 32}, {-1, -2}, eight}), ValueVerifyFatal);
  EXPECT_THROW(to_int32({{0, 0}, {2}, {}}), ValueVerifyFatal);
  EXPECT_THROW(from_int32({2, 2}, std::vector<std::int32_t>{1, 2, 3}), ValueVerifyFatal);
  EXPECT_THROW(from_int32({-1}, {}), ValueVerifyFatal);
}

TEST(Describe, NamesArePrintedWithoutControlCharacters) {
  EXPECT_EQ(printable("conv0_weight"), "conv0_weight");
  EXPECT_EQ(printable("\x1b[2J\n\x7f"), "\\x1b[2J\\x0a\\x7f");
  EXPECT_EQ(printable("\xC2\x9B \xC2\xA0"), "\\xc2\\x9b \xC2\xA0");
  EXPECT_EQ(printable("\xFF\xE6\xB7\xB1"), "\\xff\xE6\xB7\xB1");
  // U+202E would show what follows from right to left; the characters around it are harmless.
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\xe2\\x80\\xae");
  for (const char* ends :
      {"\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x81\xA6", "\xE2\x81\xA9"})
    EXPECT_EQ(printable(ends).size(), 12u) << printable(ends);
  for (const char* shown : {"\xE2\x80\x8D", "\xE2\x80\x90", "\xE2\x80\xA7", "\xE2\x80\xAF",
           "\xE2\x81\xA5", "\xE2\x81\xAA"})
    EXPECT_EQ(printable(shown), shown);
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abcd...");
  EXPECT_EQ(printable("abc\xE6\xB7\xB1", 4), "abc...");
}

}  // namespace
}  // namespace lockstep::params
