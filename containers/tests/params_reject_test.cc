/// Every reason to reject a file, provoked by a file made for it, at the offset that the format
/// demands.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "containers/tests/refusal.h"
#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

File patch(std::size_t offset, std::size_t width, std::int64_t value) {
  return patched(worked_example(), offset, width, value);
}

/// The example with another type and shape for "w".
File shaped(std::uint8_t code, std::uint8_t bits, std::int64_t rows, std::int64_t columns,
    std::int64_t size) {
  File file = patched(patch(79, 1, code), 80, 1, bits);
  return patched(patched(patched(file, 83, 8, rows), 91, 8, columns), 99, 8, size);
}

std::vector<FaultyFile> header_cases() {
  const File same_names = without(patched(patch(33, 8, 1), 41, 1, 'w'), 42);
  const File nul_after_bad_utf8 = patched(patch(41, 1, 0xFF), 42, 1, 0);
  const File swapped = reversed(worked_example(), 0, 8);
  return {
      {"too_short", 0, {}, {}},
      {"too_short", 0, {}, prefix(worked_example(), 7)},
      {"too_short", 8, {}, prefix(worked_example(), 15)},
      {"too_short", 16, {}, prefix(worked_example(), 16)},
      {"too_short", 33, {}, patched(prefix(worked_example(), 40), 16, 8, 2)},
      {"too_short", 43, {}, prefix(worked_example(), 50)},
      {"magic", 0, {}, patch(0, 1, 0xb6)},
      {"magic", 0, {}, patch(0, 8, 0)},
      {"magic_byte_swapped", 0, {}, swapped},
      {"reserved", 8, {}, patch(8, 8, 1)},
      {"reserved", 8, {}, patch(15, 1, 0x80)},
      {"name_count", 16, {}, patch(16, 8, 18)},
      {"name_count", 16, {}, patch(16, 8, kHuge)},
      {"name_count", 16, {}, patch(16, 8, -1)},
      {"name_length", 24, {}, patch(24, 8, 133)},
      {"name_length", 33, {}, patch(33, 8, kHuge)},
      {"name_length", 33, {}, patch(33, 8, -1)},
      {"name_nul", 32, {}, patch(32, 1, 0)},
      {"name_nul", 41, {}, nul_after_bad_utf8},
      {"name_utf8", 32, {}, patch(32, 1, 0xFF)},
      {"name_utf8", 41, {}, patch(42, 1, 0x80)},
      {"duplicate_name", 41, "w", same_names},
      {"value_count", 43, {}, patch(43, 8, 1)},
      {"value_count", 43, {}, patch(43, 8, 3)},
      {"value_count", 43, {}, patch(43, 8, kHuge)},
      {"trailing", 164, {}, with_bytes(worked_example(), {0})},
      {"trailing", 164, {}, with_bytes(worked_example(), {1, 2, 3})},
  };
}

std::vector<FaultyFile> record_cases() {
  const File swapped_w = reversed(worked_example(), 51, 8);
  const File swapped_b0 = reversed(worked_example(), 123, 8);
  return {
      {"too_short", 51, "w", prefix(worked_example(), 58)},
      {"too_short", 71, "w", prefix(worked_example(), 74)},
      {"too_short", 79, "w", prefix(worked_example(), 79)},
      {"too_short", 80, "w", prefix(worked_example(), 80)},
      {"too_short", 81, "w", prefix(worked_example(), 82)},
      {"too_short", 155, "b0", prefix(worked_example(), 162)},
      {"record_magic", 51, "w", patch(51, 8, 0)},
      {"record_magic", 123, "b0", patch(130, 1, 0xdc)},
      {"record_magic_byte_swapped", 51, "w", swapped_w},
      {"record_magic_byte_swapped", 123, "b0", swapped_b0},
      {"record_reserved", 59, "w", patch(59, 8, 1)},
      {"record_reserved", 131, "b0", patch(131, 8, kHuge)},
      {"device", 67, "w", patch(67, 4, 2)},
      {"device", 71, "w", patch(71, 4, -1)},
      {"device", 143, "b0", patch(143, 4, 1)},
      {"ndim", 75, "w", patch(75, 4, -1)},
      {"ndim", 75, "w", patch(75, 4, 33)},
      {"dtype_code", 79, "w", patch(79, 1, 3)},
      {"dtype_code", 151, "b0", patch(151, 1, 4)},
      {"dtype_sub_byte", 80, "w", patch(80, 1, 0)},
      {"dtype_sub_byte", 80, "w", patch(80, 1, 4)},
      {"dtype_sub_byte", 80, "w", patch(80, 1, 33)},
      {"dtype_bits", 80, "w", patch(80, 1, 24)},
      {"dtype_bits", 80, "w", patch(80, 1, 128)},
      {"dtype_bits", 152, "b0", patch(151, 1, 2)},
      {"dtype_lanes", 81, "w", patch(81, 2, 0)},
      {"dtype_lanes", 81, "w", patch(81, 2, 256)},
      {"shape_beyond", 155, "b0", patch(147, 4, 2)},
      {"shape_beyond", 83, "w", prefix(worked_example(), 98)},
      {"negative_extent", 83, "w", patch(83, 8, -1)},
      {"negative_extent", 91, "w", patch(91, 8, -kHuge)},
      {"negative_extent", 91, "w", shaped(0, 64, kMost, -1, 0)},
      {"shape_overflow", 83, "w", shaped(0, 64, kHuge, 1, 0)},
      {"shape_overflow", 83, "w", shaped(0, 8, kMost, 2, -2)},
      {"shape_overflow", 83, "w", shaped(0, 32, 0, kMost, 0)},
      {"shape_overflow", 83, "w", shaped(0, 32, kMost, 0, 0)},
      {"size", 99, "w", patch(99, 8, 15)},
      {"size", 99, "w", patch(99, 8, -16)},
      {"size", 99, "w", shaped(0, 32, 0, 2, 16)},
      {"size", 155, "b0", patch(155, 8, kHuge)},
      {"data_beyond", 99, "w", shaped(0, 8, kHuge, 1, kHuge)},
      {"data_beyond", 99, "w", shaped(1, 8, kMost, 1, kMost)},
      {"data_beyond", 99, "w", shaped(2, 64, kHuge - 1, 1, 8 * (kHuge - 1))},
      {"data_beyond", 99, "w", shaped(0, 8, 1, 58, 58)},
      {"data_beyond", 155, "b0", prefix(worked_example(), 163)},
  };
}

std::vector<FaultyFile> all_cases() {
  std::vector<FaultyFile> cases = header_cases();
  const std::vector<FaultyFile> more = record_cases();
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

TEST(Reject, EachFaultHasItsLabelOffsetAndName) {
  for (const FaultyFile& each : all_cases()) {
    expect_error(each, [&] { read(each.file); });
    expect_error(each, [&] { read(Bytes::copy(each.file)); });
    const TemporaryFile file(each.file);
    expect_error(each, [&] { read_file(file.path()); });
    if (each.label != "trailing") expect_error(each, [&] { read(each.file, {.lenient = true}); });
  }
}

TEST(Reject, EachReasonIsReached) {
  std::set<std::string_view> reasons;
  for (const Reject& reason : kRejects) EXPECT_TRUE(reasons.insert(reason.id).second) << reason.id;
  std::set<std::string_view> fired;
  for (const FaultyFile& each : all_cases()) fired.insert(each.label);
  EXPECT_EQ(fired, reasons);
}

TEST(Reject, TheFirstOfTwoFaultsIsTheError) {
  // The faults that replace bytes in place, each by where it is found; a shape of two dimensions
  // where there was none, or a type that changes the size, would be a fault of another field.
  const std::map<std::size_t, std::string_view> faults = {
      {7, "magic"},
      {8, "reserved"},
      {23, "name_count"},
      {31, "name_length"},
      {32, "name_utf8"},
      {43, "value_count"},
      {51, "record_magic"},
      {59, "record_reserved"},
      {67, "device"},
      {71, "device"},
      {78, "ndim"},
      {79, "dtype_code"},
      {80, "dtype_bits"},
      {82, "dtype_lanes"},
      {90, "negative_extent"},
      {98, "negative_extent"},
      {99, "size"},
      {123, "record_magic"},
      {139, "device"},
      {155, "size"},
  };
  for (const auto& [first, label] : faults) {
    for (const auto& [second, ignored] : faults) {
      if (second < first) continue;
      const File file = patched(patch(second, 1, 0xF8), first, 1, 0xF8);
      EXPECT_EQ(label_of([&] { read(file); }), label) << first << " and " << second;
    }
  }
}

TEST(Reject, LimitsThemselvesAreLegal) {
  EXPECT_NO_THROW(read(worked_example()));
  // 17 names fit the 140 bytes that remain after their number, so the fault lies in a name.
  expect_error({"name_utf8", 51, {}, {}}, [] { read(patch(16, 8, 17)); });
  // A name of 132 bytes fits exactly, and has a NUL in it.
  expect_error({"name_nul", 32, {}, {}}, [] { read(patch(24, 8, 132)); });
  // One more dimension than the scalar has fits the 9 bytes that remain, its size then does not.
  expect_error({"too_short", 163, "b0", {}}, [] { read(patch(147, 4, 1)); });
  // 57 bytes remain after the size of "w": so many bytes of data are legal, another tensor is due.
  expect_error({"too_short", 164, "b0", {}}, [] { read(shaped(0, 8, 1, 57, 57)); });
}

TEST(Reject, AMessageNamesFileTensorOffsetAndReason) {
  const TemporaryFile file(patch(99, 8, 15));
  EXPECT_EQ(ndarray::refusal([&] { return read_file(file.path()); }),
      file.path() +
          ": offset 99, tensor \"w\": the size must be the product of the extents times "
          "the bytes of an element; found 15 where 16 is due [size]");
}

TEST(Reject, TheWriterRefusesWhatTheReaderWouldReject) {
  const auto refuse = [](std::string_view label, std::uint64_t offset,
                          std::optional<std::string> tensor, const auto& change) {
    std::vector<NamedTensor> tensors = worked_tensors();
    change(tensors);
    expect_error({label, offset, std::move(tensor), {}}, [&] { write(tensors); });
  };
  using Tensors = std::vector<NamedTensor>;
  refuse("name_nul", 32, {}, [](Tensors& t) { t[0].name = std::string(1, '\0'); });
  refuse("name_utf8", 41, {}, [](Tensors& t) { t[1].name = "\xC0\x80"; });
  refuse("duplicate_name", 41, "w", [](Tensors& t) { t[1].name = "w"; });
  refuse("ndim", 75, "w", [](Tensors& t) { t[0].tensor.shape.assign(33, 1); });
  refuse("dtype_code", 151, "b0", [](Tensors& t) { t[1].tensor.dtype.code = 3; });
  refuse("dtype_sub_byte", 80, "w", [](Tensors& t) { t[0].tensor.dtype.bits = 1; });
  refuse("dtype_bits", 80, "w", [](Tensors& t) { t[0].tensor.dtype = {2, 8}; });
  refuse("negative_extent", 91, "w", [](Tensors& t) { t[0].tensor.shape[1] = -2; });
  refuse("shape_overflow", 83, "w", [](Tensors& t) { t[0].tensor.shape = {0, kMost}; });
  refuse("size", 99, "w", [](Tensors& t) { t[0].tensor.dtype.bits = 16; });
  refuse("size", 155, "b0", [](Tensors& t) { t[1].tensor.bytes = {}; });
}

TEST(Reject, ARefusedWriteTouchesNothing) {
  const TemporaryFile file(worked_example());
  std::vector<NamedTensor> tensors = worked_tensors();
  tensors[1].name = "w";
  EXPECT_THROW(write_file(file.path(), tensors), Error);
  EXPECT_EQ(read_file(file.path()).tensors, worked_tensors());
}

TEST(Reject, FilesThatCannotBeOpenedAreTheCallersFault) {
  EXPECT_THROW(read_file("/nonexistent/file.params"), utils::ValueVerifyFatal);
  EXPECT_THROW(read_file("/"), utils::ValueVerifyFatal);
  EXPECT_THROW(write_file("/nonexistent/file.params", worked_tensors()), utils::ValueVerifyFatal);
}

TEST(Reject, AFullDeviceIsNot) {
  EXPECT_THROW(write_file("/dev/full", worked_tensors()), utils::LogMessageFatal);
}

}  // namespace
}  // namespace lockstep::params
