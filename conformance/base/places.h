/// @file
/// Where the program finds what it came with, relative to itself.
#pragma once
#include <string>

namespace lockstep::judge {

/// The directory of the running program.
std::string program_directory();
/// The directory of the backends that came with it.
std::string backend_directory();
/// The directory of the golden vectors; empty if there is none.
std::string vector_directory();
/// The file of what kills which mutants; empty if there is none.
std::string kill_file();
/// The file that names the operators written again elsewhere; empty if there is none.
std::string crosscheck_file();

}  // namespace lockstep::judge
