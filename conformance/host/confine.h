/// @file
/// Limits what a process that holds a backend may do, and notes why it dies.
#pragma once
#include <string>

#include "conformance/host/arena.h"

namespace lockstep::judge {

/// Limits the memory of this process to its present size plus `bytes`; 0: no limit. Beyond it
/// allocations fail, so that a faulty backend cannot exhaust the machine.
void limit_data(u64 bytes);

/// Takes the right to look into other processes from this process and those that it starts.
/// @param all also takes every other right of a superuser, except those to read and write files
void renounce_rights(bool all);

/// From now on the kernel answers an attempt to start a process, though not a thread, with this
/// action, as seccomp() takes it with these flags. @return what that returned; less than 0: errno
int filter_starts(unsigned action, unsigned flags);

/// From now on an attempt to start a process, though not a thread, ends this one by SIGSYS. Only
/// for a process that has renounced all rights.
void forbid_processes();

/// The variables of this process's environment, its open files, and the signal that comes when the
/// one that keeps it has ended.
std::string beginning_of_process();

/// What this process may do after all that, as the kernel tells it.
/// @param memory the `bytes` of limit_data()
std::string bounds_of_process(u64 memory);

/// From now on notes in the arena's present reply why a signal ends this process. Notes a write to
/// an input, too, and lets it go on.
void watch_faults(Arena& arena);

}  // namespace lockstep::judge
