/// Laws of the parameter file over drawn lists of tensors and drawn damage.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <set>

#include "reference/ndarray/params/tests/temporary_file.h"
#include "reference/ndarray/params/tests/worked_example.h"

namespace lockstep::params {
namespace {

// The same cases in every run, unless the environment asks for others.
const bool kSeeded = ::setenv("RC_PARAMS", "seed=20 max_success=300", 0) == 0;

rc::Gen<std::string> gen_name() {
  const auto character = rc::gen::element<std::string>("a", "b", "_", "7", "\n", "\xC3\xA9",
                                                       "\xE6\xB7\xB1", "\xF0\x9F\x90\x8D");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character),
                      [](const std::vector<std::string>& characters) {
                        std::string name;
                        for (const std::string& each : characters) name += each;
                        return name;
                      });
}

rc::Gen<Tensor> gen_tensor() {
  return rc::gen::exec([] {
    const DType dtype =
        (*rc::gen::elementOf(std::vector<NamedDType>(std::begin(kDTypes), std::end(kDTypes))))
            .dtype;
    const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
    const auto shape =
        *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 4));
    const auto size = static_cast<std::size_t>(*byte_size(shape, dtype));
    const auto data =
        *rc::gen::container<std::vector<unsigned char>>(size, rc::gen::arbitrary<unsigned char>());
    return Tensor{dtype, shape, Bytes::copy(std::as_bytes(std::span(data)))};
  });
}

std::vector<NamedTensor> draw_tensors() {
  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    std::string name = *gen_name();
    while (!names.insert(name).second) name += 'x';
    tensors.push_back({name, *gen_tensor()});
  }
  return tensors;
}

/// Reading either gives a file back byte for byte or a labelled error inside the file.
void loads_or_is_labelled(const File& file) {
  try {
    RC_ASSERT(write(read(file).tensors) == file);
    RC_CLASSIFY(true, "legal");
  } catch (const Error& error) {
    RC_ASSERT(error.offset() <= file.size());
    RC_CLASSIFY(true, std::string(error.label()));
  }
}

RC_GTEST_PROP(ParamsProperty, ReadingInvertsWriting, ()) {
  const std::vector<NamedTensor> tensors = draw_tensors();
  const File file = write(tensors);
  RC_ASSERT(file.size() == file_size(tensors));
  RC_ASSERT(read(file).tensors == tensors);
  RC_ASSERT(read_file(TemporaryFile(file).path()).tensors == tensors);
}

RC_GTEST_PROP(ParamsProperty, ProperPrefixesAreRejected, ()) {
  const File file = write(draw_tensors());
  const auto size = *rc::gen::inRange<std::size_t>(0, file.size());
  RC_ASSERT_THROWS_AS(read(prefix(file, size)), Error);
}

RC_GTEST_PROP(ParamsProperty, AppendedBytesAreCounted, ()) {
  File file = write(draw_tensors());
  const std::size_t size = file.size();
  const auto more = *rc::gen::inRange<std::size_t>(1, 40);
  file.resize(size + more, static_cast<std::byte>(*rc::gen::arbitrary<unsigned char>()));
  RC_ASSERT(read(file, {.lenient = true}).trailing_bytes == more);
  RC_ASSERT_THROWS_AS(read(file), Error);
}

RC_GTEST_PROP(ParamsProperty, DamagedFilesLoadOrAreLabelled, ()) {
  File file = write(draw_tensors());
  const auto times = *rc::gen::inRange(1, 4);
  for (int i = 0; i < times; ++i) {
    const auto offset = *rc::gen::inRange<std::size_t>(0, file.size());
    const auto value = *rc::gen::weightedOneOf<unsigned char>(
        {{1, rc::gen::arbitrary<unsigned char>()},
         {2, rc::gen::element<unsigned char>(0, 1, 2, 3, 8, 16, 32, 64, 0x7F, 0x80, 0xFF)}});
    file[offset] = static_cast<std::byte>(value);
  }
  loads_or_is_labelled(file);
}

RC_GTEST_PROP(ParamsProperty, ReadersOfMemoryAndOfFilesAgree, ()) {
  File file = write(draw_tensors());
  const auto offset = *rc::gen::inRange<std::size_t>(0, file.size());
  file[offset] = static_cast<std::byte>(*rc::gen::arbitrary<unsigned char>());
  const auto outcome = [](auto call) -> std::string {
    try {
      return std::to_string(call().tensors.size());
    } catch (const Error& error) {
      return std::string(error.label()) + " at " + std::to_string(error.offset());
    }
  };
  const TemporaryFile stored(file);
  RC_ASSERT(outcome([&] { return read(file); }) ==
            outcome([&] { return read_file(stored.path()); }));
}

}  // namespace
}  // namespace lockstep::params
