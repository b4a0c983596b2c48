/// @file
/// The adapter `exec:COMMAND`: a backend in any language that reads calls and writes answers in the
/// JSON Lines protocol of `lockstep eval`.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A backend that is started by `/bin/sh -c COMMAND`, with the directory of this program at the end
/// of its PATH. It is started at the first question, and again after it ended, hung or broke the
/// protocol. It ends, with all its children, when the subject or this process does.
/// @throws UsageError if options are given: they belong in the command.
std::unique_ptr<Subject> open_exec(const std::string& command, const Limits& limits);

}  // namespace lockstep::judge
