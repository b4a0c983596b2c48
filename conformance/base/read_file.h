/// @file
/// Files as their bytes.
#pragma once
#include <string>

namespace lockstep::judge {

/// The bytes of a file, which may be empty or a pipe.
/// @throws UsageError naming what cannot be read: nothing is there, or it is a directory.
std::string read_file(const std::string& path);

}  // namespace lockstep::judge
