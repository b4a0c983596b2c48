/// Every reason to refuse an archive, fired by one made for it.
#include <gtest/gtest.h>

#include <set>

#include "containers/tests/counted_memory.h"
#include "containers/tests/npz_archives.h"
#include "containers/tests/temporary_file.h"

namespace lockstep::params::npz {
namespace {

constexpr std::size_t kSmall = std::size_t{200} << 10;

// Where the numbers of the worked example's archive stand: two members of 35 + 128 + 16 and of
// 36 + 128 + 1 bytes, then the directory and its end.
constexpr std::size_t kSecond = 179, kDirectory = 344, kEntry2 = kDirectory + 51, kEnd = 447;

File example() { return npz::write(worked_tensors()); }

File patch(std::size_t offset, std::size_t width, std::int64_t value) {
  return patched(example(), offset, width, value);
}

/// A number of the first member, changed in both of its headers.
File patch_both(std::size_t local, std::size_t entry, std::size_t width, std::int64_t value) {
  return patched(patch(local, width, value), kDirectory + entry, width, value);
}

std::vector<FaultyFile> zip_cases() {
  const File end64 = with_end64(example(), 2, 103, kDirectory);
  const std::size_t locator = end64.size() - kEndSize - kLocatorSize;
  return {
      {"zip_end", 0, {}, {}},
      {"zip_end", 468, {}, prefix(example(), 468)},
      {"zip_end", 469, {}, patch(kEnd, 1, 'Q')},
      {"zip_end", 470, {}, with_bytes(example(), {0})},
      {"zip_disks", kEnd, {}, patch(kEnd + 4, 2, 1)},
      {"zip_disks", kEnd, {}, patch(kEnd + 6, 2, 1)},
      {"zip_disks", kEnd, {}, patch(kEnd + 8, 2, 1)},
      {"zip_disks", kDirectory, "w.npy", patch(kDirectory + 34, 2, 1)},
      {"zip_disks", locator, {}, patched(end64, locator + 16, 4, 2)},
      {"zip_disks", kEnd, {}, patched(end64, kEnd + 16, 4, 1)},
      {"zip_end64", kEnd, {}, patched(patch(kEnd + 8, 2, 0xFFFF), kEnd + 10, 2, 0xFFFF)},
      {"zip_end64", locator, {}, patched(end64, locator + 8, 8, kHuge)},
      {"zip_end64", kEnd, {}, patched(end64, kEnd + 4, 8, kHuge)},
      {"zip_end64", kEnd, {}, patched(end64, kEnd + 24, 8, kHuge)},
      {"zip_end64", kEnd, {}, patched(end64, end64.size() - 10, 4, 1)},
      {"zip_directory", kEnd, {}, patch(kEnd + 12, 4, 104)},
      {"zip_directory", kEnd, {}, patch(kEnd + 16, 4, kDirectory - 1)},
      {"zip_directory", kEnd, {}, with_end64(example(), 2, kHuge, kDirectory)},
      {"zip_directory", kEnd, {}, with_end64(example(), 2, 103, kHuge)},
      {"zip_count", kDirectory, {}, patched(patch(kEnd + 8, 2, 3), kEnd + 10, 2, 3)},
      {"zip_count", kDirectory, {}, with_end64(example(), kHuge, 103, kDirectory)},
      {"zip_count", kEntry2, {}, patched(patch(kEnd + 8, 2, 1), kEnd + 10, 2, 1)},
      {"zip_entry", kDirectory, {}, patch(kDirectory, 1, 'Q')},
      {"zip_entry", kDirectory, {}, patch(kDirectory + 28, 2, 0xFFFF)},
      {"zip_entry", kEntry2 + 7, {}, patch(kDirectory + 30, 2, 7)},
      {"zip_name", kDirectory, "\xE9.npy", patch_both(30, 46, 1, 0xE9)},
      {"zip_encrypted", kDirectory, "w.npy", patch_both(6, 8, 2, kEncrypted)},
      {"zip_method", kDirectory, "w.npy", patch_both(8, 10, 2, 12)},
      {"zip_extra", kDirectory, "w.npy", patch(kDirectory + 24, 4, -1)},
      {"zip_extra", kWideDirectory, "w.npy", with_extra({})},
      {"zip_extra", kWideDirectory, "w.npy", with_extra({kWideSize})},
      {"zip_local", kWideDirectory, "w.npy", with_extra({kWideSize, kWideSize, kHuge})},
      {"zip_beyond", 0, "w.npy", with_extra({kHuge, kHuge})},
      {"zip_size", 0, "w.npy", with_extra({kHuge, kWideSize})},
      {"zip_local", 0, "w.npy", patch(0, 1, 'Q')},
      {"zip_local", 0, "w.npy", patch(6, 2, kUtf8)},
      {"zip_local", 0, "w.npy", patch(8, 2, kDeflated)},
      {"zip_local", 0, "w.npy", patch(30, 1, 'v')},
      {"zip_local", 0, "w.npy", patch(14, 1, 0)},
      {"zip_local", 0, "w.npy", patch(18, 1, 0)},
      {"zip_local", 0, "w.npy", patch(22, 1, 0)},
      {"zip_local", 0, "w.npy", patch(28, 2, 0xFFFF)},
      {"zip_local", kDirectory, "w.npy", patch(kDirectory + 42, 4, kDirectory)},
      {"zip_beyond", 0, "w.npy", patch_both(18, 20, 4, 0x7FFFFFFF)},
      {"zip_overlap", kSecond, "b0.npy",
          patched(patched(patch_both(18, 20, 4, 145), 22, 4, 145), kDirectory + 24, 4, 145)},
      {"zip_size", 0, "w.npy", patch_both(22, 24, 4, 143)},
  };
}

std::vector<FaultyFile> inflate_cases() {
  const std::string array = array_of(dictionary_of("|u1", "(1,)"), "x");
  const File good = archive_of_array(array, true);
  const std::size_t directory = good.size() - kEndSize - kEntrySize - 5;
  const auto sized = [&](std::int64_t size) {
    return patched(patched(good, 22, 4, size), directory + 24, 4, size);
  };
  const std::string longer = array_of(dictionary_of("|u1", "(2,)"), "x");
  const File lies = archive_of_array(longer, true);
  const std::size_t lies_directory = lies.size() - kEndSize - kEntrySize - 5;
  const auto said = static_cast<std::int64_t>(longer.size() + 1);
  return {
      {"zip_bomb", 0, "w.npy", sized(0x7FFFFFFF)},
      {"zip_data", 35, "w.npy", patched(good, 35, 1, 0xFF)},
      {"zip_data", 35, "w.npy", patched(patched(lies, 22, 4, said), lies_directory + 24, 4, said)},
      {"zip_checksum", 35, "w.npy", patched(patched(good, 14, 1, 0), directory + 16, 1, 0)},
      {"zip_checksum", 35, "w.npy", patch(35 + 128, 1, 9)},
  };
}

std::string good_array() { return array_of(dictionary_of("|u1", "(1,)"), "x"); }

/// A faulty array, of an archive or by itself.
struct FaultyArray {
  std::string_view label;
  std::string content;
};

std::vector<FaultyArray> faulty_arrays() {
  const auto member = [](std::string_view label, const std::string& content) {
    return FaultyArray{label, content};
  };
  const auto array = [&](std::string_view label, const std::string& dictionary) {
    return member(label, array_of(dictionary, "x"));
  };
  const std::string good = good_array();
  std::vector<FaultyArray> cases = {
      member("npy_pickle", "\x80\x04K\x01."),
      member("npy_magic", ""),
      member("npy_magic", good.substr(0, 7)),
      member("npy_magic", "\x93NUMPX" + good.substr(6)),
      member("npy_version", "\x93NUMPY\x04" + good.substr(7)),
      member("npy_version", std::string("\x93NUMPY\x01\x01") + good.substr(8)),
      member("npy_header_size", good.substr(0, 9)),
      member("npy_header_size", good.substr(0, 40)),
      member("npy_header_size", array_of(std::string(10001, ' '), "")),
      member("npy_size", good + "x"),
      member("npy_size", good.substr(0, good.size() - 1)),
      array("npy_object", dictionary_of("|O", "(1,)")),
      array("npy_structure", "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}"),
      array("npy_structure", dictionary_of("|V4", "(1,)")),
      array("shape_overflow", dictionary_of("<i8", "(1152921504606846976, 2)")),
      array("shape_overflow", dictionary_of("<i8", "(9223372036854775808,)")),
      array("npy_size", dictionary_of("<i8", "(1152921504606846975,)")),
  };
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  cases.push_back(array("ndim", dictionary_of("|u1", many + ")")));
  for (const char* descr : {"|b1", "<c8", "<f16", "|f1", "<U4", "|S1", "<M8", "|i4", "=i4", "i4",
           "", "<i3", "<i44", "<x4", "<"})
    cases.push_back(array("npy_dtype", dictionary_of(descr, "(1,)")));
  for (const char* text :
      {"", "{", "{}", "[]", "{'descr': '|u1'}", "{'descr': '|u1', 'shape': (1,)}",
          "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} 1",
          "{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}",
          "{'descr': '|u\\x31', 'fortran_order': False, 'shape': (1,)}", "{'descr': '|u1, }",
          "{'descr': 1, 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (01,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1L,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1 1)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': [1]}"})
    cases.push_back(array("npy_header", text));
  return cases;
}

std::vector<FaultyFile> array_cases() {
  const std::string good = good_array();
  std::vector<FaultyFile> cases = {
      {"npz_member", 0, "w", archive_of({{"w", good}})},
      {"npz_member", 0, "w.npy/", archive_of({{"w.npy/", ""}})},
      {"duplicate_name", kLocalSize + 5 + good.size(), "w.npy",
          archive_of({{"w.npy", good}, {"w.npy", good}})},
      {"name_nul", 0, {}, archive_of({{std::string("\0.npy", 5), good}})},
      {"name_utf8", 0, {}, archive_of({{"\xFF.npy", good, false, kUtf8}})},
  };
  for (const FaultyArray& each : faulty_arrays())
    cases.push_back({each.label, 35, "w.npy", archive_of_array(each.content)});
  return cases;
}

std::vector<FaultyFile> all_cases() {
  std::vector<FaultyFile> cases = zip_cases();
  for (const auto& more : {inflate_cases(), array_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

TEST(NpzReject, EachFaultHasItsLabelOffsetAndMember) {
  for (const FaultyFile& each : all_cases()) {
    expect_error(each, [&] { npz::read(each.file); });
    const TemporaryFile file(each.file);
    expect_error(each, [&] { npz::read_file(file.path()); });
  }
}

TEST(NpzReject, AnArrayByItselfHasTheFaultsOfAMember) {
  for (const FaultyArray& each : faulty_arrays()) {
    const File file = Builder().text(each.content).bytes();
    expect_error({each.label, 0, {}, file}, [&] { read_npy(file); });
    EXPECT_LT(allocated_by([&] { EXPECT_THROW(read_npy(file), Error); }), kSmall) << each.label;
  }
  const Tensor cut = {{0, 32}, {2}, bytes_of({1, 0, 0, 0})};
  EXPECT_THROW(write_npy(cut), Error);
  EXPECT_THROW(write_npy_file("/nonexistent/array.npy", cut), Error);
  EXPECT_THROW(write_npy_file("/nonexistent/array.npy", worked_tensors()[0].tensor),
      utils::ValueVerifyFatal);
}

/// The label with which the writer refuses names, and the name it finds fault with.
std::pair<std::string, std::string> refused(const std::vector<std::string>& names) {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : names) tensors.push_back({name, {{0, 8}, {}, bytes_of({1})}});
  try {
    npz::write(tensors);
    return {};
  } catch (const Error& error) {
    return {std::string(error.label()), error.tensor().value_or("")};
  }
}

using Refusal = std::pair<std::string, std::string>;

TEST(NpzReject, NamesThatWouldNotComeBackAreNotWritten) {
  for (const char* name : {"/a", "a//b", "./a", "a/./b", "../a", "a/../b", "a\\b", "/"})
    EXPECT_EQ(refused({"fine", name}), Refusal("npz_name", name)) << name;
  for (const char* name : {"", ".", "..", "a/b", "a/", "a.b", "a.npy", ".npy", "a:b", "W", "w"})
    EXPECT_EQ(refused({name}), Refusal()) << name;
  EXPECT_EQ(refused({"W", "w"}), Refusal());
  EXPECT_EQ(refused({std::string(65531, 'x')}), Refusal());
  const std::string long_name(65532, 'x');
  EXPECT_EQ(refused({long_name}), Refusal("npz_name_length", long_name));
  EXPECT_EQ(refused({"a.npy", "a"}), Refusal("npz_ambiguous", "a"));
  EXPECT_EQ(refused({"", ".npy"}), Refusal("npz_ambiguous", ""));
  EXPECT_EQ(refused({"a", "a"}), Refusal("duplicate_name", "a"));
}

TEST(NpzReject, EachReasonIsReached) {
  std::set<std::string_view> reasons, fired = {"npz_name", "npz_name_length", "npz_ambiguous"};
  for (const Reject& reason : npz::kRejects) {
    EXPECT_TRUE(reasons.insert(reason.id).second) << reason.id;
    for (const Reject& other : params::kRejects) EXPECT_NE(other.id, reason.id);
  }
  for (const FaultyFile& each : all_cases()) fired.insert(each.label);
  for (const std::string_view reason : reasons) EXPECT_TRUE(fired.contains(reason)) << reason;
}

TEST(NpzReject, EveryProperPrefixIsRejected) {
  const File archive = example();
  for (std::size_t size = 0; size < archive.size(); ++size)
    EXPECT_THROW(npz::read(prefix(archive, size)), Error) << size;
}

// Times, attributes and versions mean nothing here; everything else is held twice.
TEST(NpzReject, NoChangeOfOneByteChangesATensor) {
  File archive = example();
  int rejected = 0;
  for (std::byte& byte : archive) {
    const std::byte original = byte;
    for (int value = 0; value < 256; ++value) {
      byte = static_cast<std::byte>(value);
      try {
        ASSERT_EQ(npz::read(archive).tensors, worked_tensors());
      } catch (const Error& error) {
        ASSERT_LE(error.offset(), archive.size());
        ++rejected;
      }
    }
    byte = original;
  }
  EXPECT_GT(rejected, 100'000);
}

TEST(NpzReject, SmallArchivesThatDeclareMuchAreCheapToRefuse) {
  for (const FaultyFile& each : all_cases())
    EXPECT_LT(allocated_by([&] { EXPECT_THROW(npz::read(each.file), Error); }), kSmall)
        << each.label;
}

TEST(NpzReject, DataIsAllocatedOnce) {
  constexpr std::size_t kData = std::size_t{8} << 20;
  const std::vector<NamedTensor> tensors = {
      {"a", {{0, 8}, {kData}, Bytes::own(File(kData, std::byte{3}))}}};
  const TemporaryFile stored;
  EXPECT_LT(allocated_by([&] { npz::write_file(stored.path(), tensors); }), kSmall);
  Params params;
  EXPECT_LT(allocated_by([&] { params = npz::read_file(stored.path()); }), kData + kSmall);
  EXPECT_EQ(params.tensors, tensors);
}

TEST(NpzReject, TheFileIsNamedWhereMemoryRunsOut) {
  const TemporaryFile stored;
  npz::write_file(stored.path(), worked_tensors());
  const auto read_stored = [&] { npz::read_file(stored.path()); };
  EXPECT_GT(times_named_without_memory(stored.path(), read_stored), 10);
  const File array = write_npy(worked_tensors()[0].tensor);
  EXPECT_GT(times_named_without_memory("x.npy", [&] { read_npy(array, "x.npy"); }), 2);
}

TEST(NpzReject, FilesThatCannotBeReadAreTheCallersFault) {
  EXPECT_THROW(npz::read_file("/nonexistent/file.npz"), utils::ValueVerifyFatal);
  EXPECT_THROW(npz::read_file("/"), utils::ValueVerifyFatal);
  EXPECT_THROW(npz::read_file("/dev/zero"), utils::ValueVerifyFatal);
  EXPECT_THROW(npz::write_file("/nonexistent/file.npz", worked_tensors()), utils::ValueVerifyFatal);
  EXPECT_THROW(npz::write_file("/dev/full", worked_tensors()), utils::LogMessageFatal);
}

}  // namespace
}  // namespace lockstep::params::npz
