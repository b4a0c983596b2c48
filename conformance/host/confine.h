/// @file
/// What a process that holds a backend may do, and what it leaves as it dies.
#pragma once
#include "conformance/host/arena.h"

namespace lockstep::judge {

/// Limits the memory of this process to its present size plus `bytes`; 0: no limit. Beyond it
/// allocations fail, so that a faulty backend cannot exhaust the machine.
void limit_data(u64 bytes);

/// Takes from this process, and from those it starts, the right to look into other processes.
/// @param all whether every right goes that only a superuser has, except to read and write files
void renounce_rights(bool all);

/// From now on an attempt to start a process, though not a thread, ends this one by SIGSYS.
void forbid_processes();

/// Notes in the arena's present reply why a signal ends this process. A write to an input is noted
/// and goes on.
void watch_faults(Arena& arena);

}  // namespace lockstep::judge
