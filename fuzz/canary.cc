// Planted mistakes, which must be found.
//
// The fuzzer must find them in seconds and the replay at once; otherwise a target that finds
// nothing proves nothing. Only inputs that begin with four certain bytes reach one.
#include <climits>
#include <cstring>
#include <memory>

#include "fuzz/target.h"

namespace {

volatile int sink;

bool begins(const std::uint8_t* data, std::size_t size, const char (&word)[5]) {
  return size >= 4 && std::memcmp(data, word, 4) == 0;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (begins(data, size, "heap")) {
    const auto block = std::make_unique<std::uint8_t[]>(size);
    const volatile std::size_t past = size;
    sink = block[past];
  }
  if (begins(data, size, "sum:")) {
    const volatile int most = INT_MAX;
    sink = most + static_cast<int>(size);
  }
  lockstep::fuzz::hold(!begins(data, size, "rule"), "no input begins with \"rule\"");
  return 0;
}
