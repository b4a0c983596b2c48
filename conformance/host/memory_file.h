/// @file
/// Files in memory, which processes share or map twice.
#pragma once
#include <cstdint>

namespace lockstep::judge {

/// Makes a file of `bytes` in memory, most of which may never be used. Lifts the limit of file
/// sizes (ulimit -f), which is meant for disks, as far as possible. It has no name, because a
/// process that maps it sees that.
/// @throws std::runtime_error naming the reason.
int memory_file(std::uint64_t bytes);

}  // namespace lockstep::judge
