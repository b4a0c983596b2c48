/// @file
/// The process in which a backend library runs.
#pragma once
#include <string>
#include <vector>

#include "conformance/subjects/channel.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::judge {

/// Loads the library, describes it in the channel, and answers the question in the channel for each
/// byte that arrives on `socket`, until it is closed. Never returns.
/// @param configs options of each configuration, opened at its first use.
/// @param memory bytes that it may allocate; 0, or a backend with a device: no limit.
[[noreturn]] void work(const std::string& library, const std::vector<Options>& configs,
    std::uint64_t memory, Channel& channel, int socket);

}  // namespace lockstep::judge
