/// @file
/// The machine on which the judge runs and the files that it judges, in reproducible words.
#pragma once
#include "conformance/verdict/report.h"

namespace lockstep::judge {

Environment this_environment();

/// SHA-256 of a backend's file; empty for a command.
/// @throws UsageError if there is no such file.
std::string file_hash(const std::string& backend);

/// Adds to a report the hashes of the files that it is about: the backend's, and the vectors'.
void add_file_hashes(Report& r, const Selection& s);

}  // namespace lockstep::judge
