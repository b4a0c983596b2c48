/// What archives hold, and that writing and reading them are inverse.
#include "containers/params/npz.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "containers/tests/drawn_params.h"
#include "containers/tests/npz_archives.h"
#include "containers/tests/temporary_file.h"

namespace lockstep::params::npz {
namespace {

/// The only tensor of an archive of one array.
Tensor tensor_of(const std::string& array, bool deflate = false) {
  const Params params = npz::read(archive_of_array(array, deflate));
  EXPECT_EQ(params.tensors.size(), 1u);
  EXPECT_EQ(params.tensors.at(0).name, "w");
  return params.tensors.at(0).tensor;
}

const std::string kSix("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00", 12);

TEST(Npz, WorkedExampleMakesTheRoundTripInMemoryAndOnDisk) {
  const File archive = npz::write(worked_tensors());
  EXPECT_EQ(archive.size(), 469u);
  EXPECT_EQ(npz::read(archive).tensors, worked_tensors());
  const TemporaryFile file;
  npz::write_file(file.path(), worked_tensors());
  EXPECT_EQ(content(file.path()), archive);
  EXPECT_EQ(npz::read_file(file.path()).tensors, worked_tensors());
}

RC_GTEST_PROP(Npz, ReadingInvertsWriting, ()) {
  const std::vector<NamedTensor> tensors = draw_tensors();
  RC_ASSERT(npz::read(npz::write(tensors)).tensors == tensors);
}

TEST(Npz, ManyMembersNeed64BitEnds) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 0x10000; ++i)
    tensors.push_back({std::to_string(i), {{0, 8}, {}, bytes_of({i & 127})}});
  for (const std::size_t count : {0xFFFEu, 0xFFFFu, 0x10000u}) {
    const std::vector<NamedTensor> some(
        tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(npz::read(npz::write(some)).tensors, some) << count;
  }
}

TEST(Npz, DeflatedMembersAnd64BitEndsAreRead) {
  const std::string array = array_of(dictionary_of("<i2", "(6,)"), kSix);
  EXPECT_EQ(tensor_of(array, true), tensor_of(array));
  const std::string zeros(100'000, '\0');
  EXPECT_EQ(tensor_of(array_of(dictionary_of("|u1", "(100000,)"), zeros), true).bytes.size(),
      zeros.size());
  const File archive = archive_of_array(array);
  const std::uint64_t offset = kLocalSize + 5 + array.size();
  const File wide = with_end64(archive, 1, kEntrySize + 5, offset);
  EXPECT_EQ(npz::read(wide).tensors, npz::read(archive).tensors);
}

TEST(Npz, NumbersOfMembersIn64BitsAreRead) {
  const std::vector<NamedTensor> expected = npz::read(archive_of_array(kWideArray)).tensors;
  EXPECT_EQ(npz::read(with_extra({kWideSize, kWideSize})).tensors, expected);
  EXPECT_EQ(npz::read(with_extra({kWideSize, kWideSize, 0})).tensors, expected);
}

TEST(Npz, SizesBehindTheDataAreTakenFromTheDirectory) {
  const std::string array = array_of(dictionary_of("<i2", "(6,)"), kSix);
  File archive = archive_of({{"w.npy", array, false, kSizesFollow}});
  const std::vector<NamedTensor> expected = npz::read(archive).tensors;
  for (const std::size_t field : {14, 18, 22}) archive = patched(archive, field, 4, 0);
  EXPECT_EQ(npz::read(archive).tensors, expected);
}

TEST(Npz, ElementsAndOrderBecomeThoseOfAParameterFile) {
  const Tensor rows = {{0, 16}, {2, 3}, bytes_of({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0})};
  EXPECT_EQ(tensor_of(array_of(dictionary_of("<i2", "(2, 3)"), kSix)), rows);
  const std::string swapped("\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06", 12);
  EXPECT_EQ(tensor_of(array_of(dictionary_of(">i2", "(2, 3)"), swapped)), rows);
  const Tensor transposed = {{0, 16}, {2, 3}, bytes_of({1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0})};
  EXPECT_EQ(tensor_of(array_of(dictionary_of("<i2", "(2, 3)", "True"), kSix)), transposed);
  const Tensor vector = {{0, 16}, {6}, rows.bytes};
  EXPECT_EQ(tensor_of(array_of(dictionary_of("<i2", "(6,)", "True"), kSix)), vector);
}

TEST(Npz, ArraysByThemselvesMakeTheRoundTrip) {
  for (const NamedTensor& each : worked_tensors()) {
    const File array = write_npy(each.tensor);
    EXPECT_EQ(read_npy(array), each.tensor);
    const TemporaryFile file;
    write_npy_file(file.path(), each.tensor);
    EXPECT_EQ(content(file.path()), array);
    const File archive = npz::write({{each}});
    EXPECT_NE(
        std::search(archive.begin(), archive.end(), array.begin(), array.end()), archive.end())
        << "no member is these bytes";
  }
  const File swapped =
      Builder()
          .text(array_of(dictionary_of(">i2", "(2, 1)", "True"), std::string("\0\1\0\2", 4)))
          .bytes();
  EXPECT_EQ(read_npy(swapped), (Tensor{{0, 16}, {2, 1}, bytes_of({1, 0, 2, 0})}));
}

/// Fortran order of every shape: the element at an index is where the first index varies fastest.
RC_GTEST_PROP(Npz, FortranOrderIsTransposed, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
  const auto shape =
      *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 4));
  const auto size = static_cast<std::size_t>(*byte_size(shape, {1, 8}));
  std::string extents, data;
  for (const std::int64_t extent : shape) extents += std::to_string(extent) + ",";
  for (std::size_t k = 0; k < size; ++k) data += static_cast<char>(k);
  const Tensor found = tensor_of(array_of(dictionary_of("|u1", "(" + extents + ")", "True"), data));
  RC_ASSERT(found.bytes.size() == size);
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t rest = k, column = 0;
    std::vector<std::size_t> index(rank);
    for (std::size_t axis = rank; axis-- > 0; rest /= static_cast<std::size_t>(shape[axis]))
      index[axis] = rest % static_cast<std::size_t>(shape[axis]);
    for (std::size_t axis = rank; axis-- > 0;)
      column = column * static_cast<std::size_t>(shape[axis]) + index[axis];
    RC_ASSERT(std::to_integer<std::size_t>(found.bytes.data()[k]) == column);
  }
}

TEST(Npz, HeadersMayBeWrittenInOtherWays) {
  const Tensor expected = {{1, 8}, {1}, bytes_of({7})};
  for (const char* dictionary : {"{'shape':(1,),'descr':'|u1','fortran_order':False}",
           "{\"descr\": \"<u1\", \"fortran_order\": False, \"shape\": (1, )}   \n",
           "{ 'fortran_order' : False , 'shape' : ( 1 , ) , 'descr' : '>u1' , }"})
    EXPECT_EQ(tensor_of(array_of(dictionary, "\x07")), expected) << dictionary;
  for (const char version : {'\x02', '\x03'}) {
    const std::string text = dictionary_of("|u1", "(1,)");
    const std::string array = std::string(kNpyMagic) + version + '\0' +
        static_cast<char>(text.size()) + std::string(3, '\0') + text + '\7';
    EXPECT_EQ(tensor_of(array), expected);
  }
}

TEST(Npz, NoTensorsAreAnArchiveOfItsEndAlone) {
  EXPECT_EQ(npz::write({}).size(), kEndSize);
  EXPECT_TRUE(npz::read(npz::write({})).tensors.empty());
  File commented = patched(npz::write({}), 20, 2, 3);
  EXPECT_TRUE(npz::read(with_bytes(commented, {'P', 'K', 5})).tensors.empty());
}

TEST(Npz, ProgressEndsWithEverything) {
  const TemporaryFile file;
  std::vector<std::uint64_t> told;
  const Progress progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_LE(done, all);
    told.push_back(all - done);
  };
  npz::write_file(file.path(), worked_tensors(), progress);
  npz::read_file(file.path(), progress);
  params::write_file(file.path(), worked_tensors(), progress);
  params::read_file(file.path(), {.lenient = false, .progress = progress});
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 0, 129, 0, 41, 0, 41, 0}));
}

TEST(Npz, HeadersAreMultiplesOf64Bytes) {
  for (std::size_t rank = 0; rank <= 32; ++rank) {
    const std::vector<std::int64_t> shape(rank, std::int64_t{1} << 62);
    const std::string header = npy_header({0, 8}, shape);
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_EQ(parse_npy_header(std::string_view(header).substr(10)).shape, shape);
  }
}

}  // namespace
}  // namespace lockstep::params::npz
