/// @file
/// Faults that the host commits in a backend's place: canaries for what watches backends.
#pragma once
#include <span>
#include <string>

#include "conformance/host/channel.h"

namespace lockstep::judge {

/// What a fault can reach.
struct Reach {
  std::span<char*const> in = {}, out = {};
  char* scratch = nullptr;  ///< on the host; nullptr: there is no scratch memory
  char* behind_scratch = nullptr;
  int run = 1;  ///< the number of the run that has ended
};

/// Tells what the functions that allocate memory do with blocks.
std::string allocations();

/// Starts a process in a session of its own, and another one whose parent ends. @return how many
int leave_processes();

/// Commits a fault right after the backend has run, or has been closed.
void commit(Plant plant, const Reach& at);

}  // namespace lockstep::judge
