/// @file
/// What a test program allocates, counted as if nothing were ever freed: the sum bounds the peak
/// from above. The program is linked with counted_memory.cc.
#pragma once
#include <cstddef>

namespace lockstep {

/// The bytes that this program has allocated.
std::size_t allocated_bytes();

/// The bytes that a call allocates.
template <class Call> std::size_t allocated_by(Call call) {
  const std::size_t before = allocated_bytes();
  call();
  return allocated_bytes() - before;
}

}  // namespace lockstep
