/// @file
/// Numbers that nobody can foresee. They never reach an output.
#pragma once
#include <errno.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

namespace lockstep::judge {

/// Another number at every call, never 0.
/// @throws std::system_error if the system has none.
inline std::uint64_t drawn_number() {
  std::uint64_t number = 0;
  if (getentropy(&number, sizeof number) != 0 || number == 0)
    throw std::system_error(errno, std::generic_category(), "no random number");
  return number;
}

}  // namespace lockstep::judge
