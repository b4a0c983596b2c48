/// @file
/// Where the backends are that came with this code.
#pragma once
#include <string>
#include <vector>

namespace lockstep::runtime {

/// The directory of the installed backends: the first that exists of DIR/lockstep, DIR/../lockstep,
/// DIR/../lib/lockstep and, where libraries are installed elsewhere than in lib, the same there;
/// DIR holds the shared library or the program with this code. Where none exists, the third of
/// them.
std::string backend_directory();
/// The names of the installed backends, sorted; none where that directory cannot be read.
std::vector<std::string> installed_backends();

/// The file of a backend as an absolute path: of an installed one by its name, or of a path, which
/// has a '/' or ends with ".so". @throws utils::ValueVerifyFatal where there is no such file, or
/// the path names something else than a file, or a library that is cut short.
std::string backend_file(const std::string& what);

}  // namespace lockstep::runtime
