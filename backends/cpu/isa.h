/// @file
/// The instruction sets for which this backend has kernels, and which of them this machine runs.
#pragma once
#include <span>
#include <string_view>

namespace lockstep::cpu {

/// An instruction set with kernels in this build.
struct Isa {
  std::string_view name;
  bool runnable;  ///< on this machine, under this operating system
};

/// The instruction sets of this build, the most basic first; that one runs everywhere.
std::span<const Isa> isas();

/// The entry of this name, or nullptr.
const Isa* find_isa(std::string_view name);

/// The last runnable entry.
const Isa& best_isa();

}  // namespace lockstep::cpu
