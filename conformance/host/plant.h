/// @file
/// Canaries of what watches a backend: faults that its process commits in its place.
#pragma once
#include <span>

#include "conformance/host/channel.h"

namespace lockstep::judge {

/// Commits a fault of a call, right after the backend has run.
/// @param run its number, from 1
void commit(Plant plant, std::span<char* const> in, std::span<char* const> out, int run);

}  // namespace lockstep::judge
