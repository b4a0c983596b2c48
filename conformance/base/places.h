/// @file
/// Where the program finds the files that it is installed with, relative to itself.
#pragma once
#include <string>

namespace lockstep::judge {

/// The directory of the running program.
std::string program_directory();
/// The directory of the golden vectors; empty if there is none.
std::string vector_directory();
/// The file of the kill matrix; empty if there is none.
std::string kill_matrix_file();
/// The file of the frozen tiers; empty if there is none.
std::string frozen_file();
/// The file of the networks' digests; empty if there is none.
std::string networks_file();
/// The library that compares values on a device; empty if there is none.
std::string witness_file();
/// The file that names the operators with independent implementations; empty if there is none.
std::string crosscheck_file();

}  // namespace lockstep::judge
