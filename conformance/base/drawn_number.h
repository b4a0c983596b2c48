/// @file
/// Numbers that nobody can foresee. They never reach an output.
#pragma once
#include <errno.h>
#include <sys/random.h>

#include <cstdint>
#include <system_error>

namespace lockstep::judge {

/// Another number at every call, never 0.
/// @throws std::system_error if the kernel gives none.
inline std::uint64_t drawn_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number || number == 0)
    throw std::system_error(errno, std::generic_category(), "no random number");
  return number;
}

}  // namespace lockstep::judge
