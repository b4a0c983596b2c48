/// @file
/// Files as their bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::judge {

/// The bytes of a file, which may be empty or a pipe.
/// @param most the most bytes; more are refused, since a device or a pipe may never end
/// @throws UsageError naming a path that does not exist, is a directory or is too long.
std::string read_file(const std::string& path, std::size_t most = SIZE_MAX);

}  // namespace lockstep::judge
