/// @file
/// The process door `exec:COMMAND`: a backend in any language that reads calls and writes answers
/// in the lines of `lockstep eval`.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A backend that is started by `/bin/sh -c COMMAND`, the directory of this program at the end of
/// its PATH. It is started at the first question, and again whenever it ended, hung or lost the
/// thread; with everything it started it ends with the subject, or with this process.
/// @throws UsageError if options are given: they belong into the command.
std::unique_ptr<Subject> open_exec(const std::string& command, const Limits& limits);

}  // namespace lockstep::judge
