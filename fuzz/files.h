/// @file
/// Shared by the targets that read files of tensors: outcomes, files in memory, and a count of
/// allocated memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <string>

#include "containers/params/params.h"
#include "fuzz/target.h"

// Sanitizers of both compilers define it, but only one compiler declares it. A replay without a
// sanitizer counts nothing.
extern "C" [[gnu::weak]] int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));

namespace lockstep::fuzz {

using File = std::span<const std::byte>;

/// The result of reading a file.
struct Outcome {
  params::Params params;
  std::string label;  ///< empty: accepted
  std::uint64_t offset = 0;
  bool operator==(const Outcome& o) const {
    return label == o.label && offset == o.offset && params.tensors == o.params.tensors &&
        params.trailing_bytes == o.params.trailing_bytes;
  }
};

template <class Read> Outcome outcome_of(Read read) {
  try {
    return {read(), {}, 0};
  } catch (const params::Error& e) {
    return {{}, std::string(e.label()), e.offset()};
  }
}

/// The result of f for the path of a file with these bytes.
template <class Read> Outcome outcome_from_disk(File file, Read read) {
  static const int fd = memfd_create("file", 0);
  const auto size = static_cast<ssize_t>(file.size());
  if (ftruncate(fd, size) != 0 || pwrite(fd, file.data(), file.size(), 0) != size)
    violated("no file in memory");
  return outcome_of([&] { return read("/proc/self/fd/" + std::to_string(fd)); });
}

inline std::size_t allocated;

/// Counts in `allocated` what is allocated from now on.
inline void count_allocations() {
  if (!__sanitizer_install_malloc_and_free_hooks) return;
  static const int counts = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t bytes) { allocated += bytes; },
      [](const volatile void*) {});
  hold(counts != 0, "no allocation is counted");
  allocated = 0;
}

/// Ends the process if reading a file of this size allocated too much.
inline void hold_allocated(std::size_t most, std::size_t size) {
  if (allocated > most)
    violated(std::to_string(allocated) + " bytes allocated for a file of " + std::to_string(size));
}

}  // namespace lockstep::fuzz
