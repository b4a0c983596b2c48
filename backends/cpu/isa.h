/// @file
/// The instruction sets for which this backend holds kernels, and which of them run here.
#pragma once
#include <span>
#include <string_view>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {

/// An instruction set with kernels in this build.
struct Isa {
  std::string_view name;
  const DotKernels* dot;
  bool runnable;  ///< on this machine, under this operating system
};

/// What this build contains, from the plainest on; the first one runs everywhere.
std::span<const Isa> isas();

/// The entry of this name, or nullptr.
const Isa* find_isa(std::string_view name);

/// The last runnable entry.
const Isa& best_isa();

}  // namespace lockstep::cpu
