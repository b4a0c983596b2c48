/// The committed files, which Apache TVM wrote: each is exactly what the writer makes of its
/// tensors.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

constexpr const char* kDirectory = "containers/tests/golden/";

/// A tensor whose byte k is 37 k + 11 modulo 256.
Tensor counted(DType dtype, std::vector<std::int64_t> shape) {
  File bytes(static_cast<std::size_t>(*byte_size(shape, dtype)));
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(37 * k + 11);
  return {dtype, std::move(shape), Bytes::own(std::move(bytes))};
}

std::vector<NamedTensor> every_dtype() {
  std::vector<NamedTensor> tensors;
  for (const auto& [dtype, name] : kDTypes)
    tensors.push_back({std::string(name), counted(dtype, {3})});
  return tensors;
}

std::vector<NamedTensor> shapes() {
  std::vector<std::int64_t> most(32, 1);
  most.front() = most.back() = 2;
  return {{"scalar", counted({0, 32}, {})}, {"one", counted({1, 8}, {1})},
      {"empty", counted({0, 64}, {0})}, {"empty inside", counted({2, 32}, {3, 0, 2})},
      {"long and empty", counted({0, 8}, {std::int64_t{1} << 40, 0})},
      {"rank 4", counted({0, 16}, {2, 1, 3, 2})}, {"rank 32", counted({1, 16}, most)}};
}

std::vector<NamedTensor> names() {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : {std::string(), std::string(" a b "), std::string("line\nfeed"),
           std::string("\xC3\xA9"), std::string("\xE6\xB7\xB1\xE5\xBA\xA6/weight:0"),
           std::string("\xF0\x9F\x90\x8D"), std::string(".."), std::string(200, 'x')})
    tensors.push_back({name, counted({0, 8}, {2})});
  return tensors;
}

const std::map<std::string, std::function<std::vector<NamedTensor>()>> kGolden = {
    {"every_dtype.params", every_dtype},
    {"names.params", names},
    {"no_tensors.params", [] { return std::vector<NamedTensor>(); }},
    {"shapes.params", shapes},
    {"worked_example.params", worked_tensors},
};

TEST(Golden, EveryCommittedFileIsKnown) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory)) {
    EXPECT_TRUE(kGolden.contains(entry.path().filename())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, kGolden.size());
}

TEST(Golden, EachIsReadAsItsTensorsAndWrittenByteForByte) {
  for (const auto& [name, tensors] : kGolden) {
    const File file = content(kDirectory + name);
    EXPECT_EQ(write(tensors()), file) << name;
    EXPECT_EQ(read(file).tensors, tensors()) << name;
    EXPECT_EQ(read_file(kDirectory + name).tensors, tensors()) << name;
  }
}

TEST(Golden, EveryProperPrefixIsRejected) {
  for (const auto& [name, tensors] : kGolden) {
    const File file = content(kDirectory + name);
    for (std::size_t size = 0; size < file.size(); ++size) {
      const File start = prefix(file, size);
      EXPECT_THROW(read(start), Error) << name << " " << size;
      EXPECT_THROW(read(start, {.lenient = true}), Error) << name << " " << size;
      EXPECT_THROW(read_file(TemporaryFile(start).path()), Error) << name << " " << size;
    }
  }
}

}  // namespace
}  // namespace lockstep::params
