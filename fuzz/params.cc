// Any bytes as a parameter file.
//
// A rejection has a label of the format's table and points into the file. What is accepted is
// exactly what the writer makes of it. Memory and a file are read alike; a lenient reader differs
// in trailing bytes only. No small file makes the reader allocate much.
#include "reference/ndarray/params/params.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fuzz/target.h"

// Both compilers' sanitizers have it, one of them without a declaration.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {

using namespace lockstep::params;
using lockstep::fuzz::hold;
using lockstep::fuzz::violated;
using Input = std::span<const std::byte>;

std::size_t allocated;

// What a reader makes of a file.
struct Outcome {
  Params params;
  std::string label;  // empty: accepted
  std::uint64_t offset = 0;
  bool operator==(const Outcome& o) const {
    return label == o.label && offset == o.offset && params.tensors == o.params.tensors &&
           params.trailing_bytes == o.params.trailing_bytes;
  }
};

template <class Read>
Outcome outcome_of(Read read) {
  try {
    return {read(), {}, 0};
  } catch (const Error& e) {
    return {{}, std::string(e.label()), e.offset()};
  }
}

Outcome read_bytes(Input file, bool lenient = false) {
  return outcome_of([&] { return read(file, {lenient}); });
}

Outcome read_from_disk(Input file) {
  static const int fd = memfd_create("params", 0);
  const auto size = static_cast<ssize_t>(file.size());
  if (ftruncate(fd, size) != 0 || pwrite(fd, file.data(), file.size(), 0) != size)
    violated("no file in memory");
  return outcome_of([&] { return read_file("/proc/self/fd/" + std::to_string(fd)); });
}

void hold_canonical(const Params& params, Input file) {
  const std::vector<std::byte> again = write(params.tensors);
  hold(std::ranges::equal(again, file), "what was read is not written as it was");
  hold(file_size(params.tensors) == file.size(), "file_size() is not the size of the file");
}

void judge(Input file) {
  allocated = 0;
  const Outcome strict = read_bytes(file);
  // The records and names of the smallest tensors take several times their place in the file.
  if (allocated > 64 * file.size() + 4096)
    violated(std::to_string(allocated) + " bytes allocated for a file of " +
             std::to_string(file.size()));
  hold(read_from_disk(file) == strict, "read_file() disagrees with read()");
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

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int counts = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t bytes) { allocated += bytes; },
      [](const volatile void*) {});
  hold(counts != 0, "no allocation is counted");
  judge(std::as_bytes(std::span(data, size)));
  return 0;
}
