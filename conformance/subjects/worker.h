/// @file
/// The process in which a backend library runs.
#pragma once
#include <string>
#include <vector>

#include "conformance/subjects/channel.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::judge {

/// Loads the library, says so in the channel, and answers questions that arrive as bytes on
/// `socket` until it is closed. Never returns.
/// @param configs options of each configuration, opened when first asked for.
/// @param memory bytes that it may allocate, less what it needs for a device; 0: no limit.
[[noreturn]] void work(const std::string& library, const std::vector<Options>& configs,
                       std::uint64_t memory, Channel& channel, int socket);

}  // namespace lockstep::judge
