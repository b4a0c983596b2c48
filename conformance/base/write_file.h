/// @file
/// Writes whole files.
#pragma once
#include <string>

namespace lockstep::judge {

/// Writes a whole file. If that fails, it leaves no file where there was none before.
/// @throws std::runtime_error naming the file and the reason.
void write_file(const std::string& path, const std::string& text);

}  // namespace lockstep::judge
