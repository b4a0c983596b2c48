/// @file
/// Writes whole files.
#pragma once
#include <string>

namespace lockstep::judge {

/// Writes a whole file. After a failure there is none if there was none.
/// @throws std::runtime_error naming the file and the reason.
void write_file(const std::string& path, const std::string& text);

}  // namespace lockstep::judge
