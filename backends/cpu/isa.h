/// @file
/// The instruction sets of this backend.
///
/// Units compiled for newer instruction sets include this header, so it must define no function:
/// the linker might keep a copy that this machine cannot run.
#pragma once
#include <span>
#include <string_view>

namespace lockstep::cpu {

/// An instruction set with kernels in this build.
struct Isa {
  std::string_view name;
  bool runnable;  ///< on this machine, under this operating system
};

/// The instruction sets of this build, the most basic first; that one runs everywhere. Where the
/// processor has AMX, the first call asks the system for its tiles, for the whole process. As the
/// calling convention has it, no call of the backend preserves tiles of its caller.
std::span<const Isa> isas();

/// The entry of this name, or nullptr.
const Isa* find_isa(std::string_view name);

/// The last runnable entry.
const Isa& best_isa();

}  // namespace lockstep::cpu
