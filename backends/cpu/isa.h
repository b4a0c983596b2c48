/// @file
/// The instruction sets that tuned kernels of this build are written for.
#pragma once
#include <span>
#include <string_view>

namespace lockstep::cpu {

/// An instruction set with kernels in this build.
struct Isa {
  std::string_view name;
  bool runnable;  ///< on this machine, under this operating system
};

/// From the plainest on; the first one runs everywhere.
std::span<const Isa> isas();

/// The entry of this name, or nullptr.
const Isa* find_isa(std::string_view name);

/// The last runnable entry.
const Isa& best_isa();

}  // namespace lockstep::cpu
