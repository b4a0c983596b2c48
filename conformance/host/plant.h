/// @file
/// Faults that the host commits in a backend's place: canaries for what watches backends.
#pragma once
#include <span>

#include "conformance/host/channel.h"

namespace lockstep::judge {

/// Commits a fault right after the backend has run, or has been closed.
/// @param run the number of the run, from 1
void commit(Plant plant, std::span<char* const> in, std::span<char* const> out, int run);

}  // namespace lockstep::judge
