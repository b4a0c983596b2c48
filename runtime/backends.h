/// @file
/// Where the backends are that came with this code.
#pragma once
#include <string>
#include <vector>

namespace lockstep::runtime {

/// The directory of the installed backends: lib/lockstep beside the shared library that holds this
/// code or, where a program holds it, beside the program.
std::string backend_directory();
/// The names of the installed backends, sorted.
std::vector<std::string> installed_backends();

/// The file of a backend: of an installed one by its name, or a path, which has a '/' or ends with
/// ".so". @throws utils::ValueVerifyFatal where there is no such file.
std::string backend_file(const std::string& what);

}  // namespace lockstep::runtime
