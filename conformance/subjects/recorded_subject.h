/// @file
/// The adapter `results:FILE`: recorded answers, in the JSON Lines protocol, to the calls that
/// `lockstep emit` wrote.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A backend of which only recorded answers exist. Properties that need a second question are not
/// judged, and failing cases are not shrunk.
/// @throws UsageError if the file cannot be read, if a line is no answer or a second answer to a
/// call, or if options are given.
std::unique_ptr<Subject> open_recorded(const std::string& file, const Limits& limits);

}  // namespace lockstep::judge
