// Any bytes as a parameter file.
//
// A rejection has a known label and an offset inside the file. The writer reproduces an accepted
// file exactly. Reading from memory and from a file gives the same result; a lenient reader differs
// only in trailing bytes. Memory is bounded by the size of the file.
#include "containers/params/params.h"

#include <algorithm>

#include "fuzz/files.h"

namespace lockstep::fuzz {
namespace {

using namespace params;

Outcome read_bytes(File file, bool lenient = false) {
  return outcome_of([&] { return read(file, {.lenient = lenient}); });
}

void hold_canonical(const Params& params, File file) {
  const std::vector<std::byte> again = write(params.tensors);
  hold(std::ranges::equal(again, file), "what was read is not written as it was");
  hold(file_size(params.tensors) == file.size(), "file_size() is not the size of the file");
}

void judge(File file) {
  count_allocations();
  const Outcome strict = read_bytes(file);
  // In memory the records and names of small tensors take several times their size in the file.
  hold_allocated(64 * file.size() + 4096, file.size());
  const auto from_disk = [](const std::string& path) { return read_file(path); };
  hold(outcome_from_disk(file, from_disk) == strict, "read_file() disagrees with read()");
  const Outcome lenient = read_bytes(file, true);
  if (strict.label.empty()) {
    hold(lenient == strict, "a lenient reader disagrees about a good file");
    hold_canonical(strict.params, file);
    hold(!read_bytes(file.first(file.size() - 1)).label.empty(), "a file without its end is good");
    return;
  }
  hold(std::ranges::find(kRejects, strict.label, &Reject::id) != std::end(kRejects),
      "a rejection has a label that the table lacks");
  hold(strict.offset <= file.size(), "a rejection points behind the file");
  if (strict.label != "trailing") {
    hold(lenient == strict, "a lenient reader forgives more than trailing bytes");
  } else {
    hold(lenient.label.empty() && lenient.params.trailing_bytes == file.size() - strict.offset,
        "a lenient reader does not count the trailing bytes");
    hold_canonical(lenient.params, file.first(strict.offset));
  }
}

}  // namespace
}  // namespace lockstep::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lockstep::fuzz::judge(std::as_bytes(std::span(data, size)));
  return 0;
}
