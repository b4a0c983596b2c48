/// @file
/// A case as files that a debugger, a simulator or a laboratory reads without this program.
#pragma once
#include <string>

#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// The most elements that a bundle's tensors have together.
inline constexpr i64 kMaxBundled = i64{1} << 20;

/// Writes the inputs of a trial, its expected outputs and those of the first answer that is not
/// what was expected (the first answer, if all are) as .npy files, as hexadecimal words, and as C
/// arrays with a program that shows the difference; beside them the call as a line of `eval`. An
/// illegal call is that line alone. The directory is there whole or not at all.
/// @param command repeats the case, for whoever finds the files
/// @throws UsageError if the directory is there and not empty, or the case is too large;
///   std::runtime_error if it cannot be written.
void write_bundle(const std::string& directory, const Trial& t, const std::string& command);

}  // namespace lockstep::judge
