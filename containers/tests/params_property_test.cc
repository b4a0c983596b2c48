/// Laws of the parameter file over drawn lists of tensors and drawn damage.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "containers/tests/drawn_params.h"
#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

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
  // Most of a drawn file are numbers; what it ends with is more often data.
  RC_ASSERT_THROWS_AS(read(prefix(file, file.size() - 1)), Error);
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
