/// @file
/// Writes whole files.
#pragma once
#include <string>

namespace lockstep::judge {

/// Writes a whole file, beside the one that it then replaces: if that fails, or the process ends
/// meanwhile, what was there before is still there. Devices and pipes are written as they are, and
/// so is a file in a directory that takes no other.
/// @throws std::runtime_error naming the file and the reason.
void write_file(const std::string& path, const std::string& text);

}  // namespace lockstep::judge
