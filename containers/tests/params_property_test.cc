/// Laws of the parameter file over drawn lists of tensors and drawn damage.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "containers/tests/drawn_params.h"
#include "containers/tests/temporary_file.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

/// What a reader makes of a file: the file again, or a labelled error inside it.
template <class Read> std::string outcome(const File& file, Read read_it) {
  try {
    RC_ASSERT(write(read_it().tensors) == file);
    return "legal";
  } catch (const Error& error) {
    RC_ASSERT(error.offset() <= file.size());
    return std::string(error.label()) + " at " + std::to_string(error.offset());
  }
}

RC_GTEST_PROP(ParamsProperty, ReadingInvertsWriting, ()) {
  const std::vector<NamedTensor> tensors = draw_tensors();
  const File file = write(tensors);
  RC_ASSERT(file.size() == file_size(tensors));
  RC_ASSERT(read(file).tensors == tensors);
  RC_ASSERT(read_file(TemporaryFile(file).path()).tensors == tensors);
}

RC_GTEST_PROP(ParamsProperty, AppendedBytesAreCounted, ()) {
  File file = write(draw_tensors());
  const std::size_t size = file.size();
  const auto more = *rc::gen::inRange<std::size_t>(1, 40);
  file.resize(size + more, static_cast<std::byte>(*rc::gen::arbitrary<unsigned char>()));
  RC_ASSERT(read(file, {.lenient = true}).trailing_bytes == more);
  RC_ASSERT_THROWS_AS(read(file), Error);
}

RC_GTEST_PROP(ParamsProperty, DamagedFilesLoadOrAreLabelledFromMemoryAndDisk, ()) {
  File file = write(draw_tensors());
  const auto times = *rc::gen::inRange(1, 4);
  for (int i = 0; i < times; ++i) {
    const auto offset = *rc::gen::inRange<std::size_t>(0, file.size());
    const auto value =
        *rc::gen::weightedOneOf<unsigned char>({{1, rc::gen::arbitrary<unsigned char>()},
            {2, rc::gen::element<unsigned char>(0, 1, 2, 3, 8, 16, 32, 64, 0x7F, 0x80, 0xFF)}});
    file[offset] = static_cast<std::byte>(value);
  }
  const std::string found = outcome(file, [&] { return read(file); });
  RC_ASSERT(outcome(file, [&] { return read_file(TemporaryFile(file).path()); }) == found);
  RC_CLASSIFY(true, found.substr(0, found.find(' ')));
}

}  // namespace
}  // namespace lockstep::params
