/// @file
/// Writes a case as files that a debugger or a simulator reads without this program.
#pragma once
#include <string>

#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// The most elements of all tensors in a bundle.
inline constexpr i64 kMaxBundled = i64{1} << 20;

/// Writes the inputs of a trial, its expected outputs and the outputs of the first wrong answer
/// (the first answer, if none is wrong) as .npy files, as hexadecimal words, and as C arrays with a
/// program that shows the difference, and the call as a line of `eval`. Of an illegal call it
/// writes only that line. After a failure no part of the directory remains.
/// @param command the command that repeats the case
/// @throws UsageError if the directory exists and is not empty, or the case is too large;
///   std::runtime_error if it cannot be written.
void write_bundle(const std::string& directory, const Trial& t, const std::string& command);

}  // namespace lockstep::judge
