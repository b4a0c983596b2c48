/// @file
/// Commands that repeat what a report shows.
#pragma once
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// A word quoted for a shell, in one line.
std::string shell_word(const std::string& word);

/// The command that repeats a case for one property, or for all if none is named.
std::string repeat_command(const std::string& backend, const Options& options,
    const std::string& id, const std::string& property = "");

/// The command that repeats a failure.
std::string repeat_command(const Report& r, const Failure& f);

/// The command that repeats the run.
std::string check_command(const Report& r);

}  // namespace lockstep::judge
