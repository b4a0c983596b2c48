/// @file
/// The file door `results:FILE`: answers that were recorded elsewhere, in the lines of
/// `lockstep eval`, to the calls that `lockstep emit` wrote.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A backend of which only answers are there. Every call was put to it once, so nothing that takes
/// a second question is judged, and no failing case is made smaller.
/// @throws UsageError if the file cannot be read, if a line of it is no answer to anything or a
///   second answer to one call, and if options are given.
std::unique_ptr<Subject> open_recorded(const std::string& file, const Limits& limits);

}  // namespace lockstep::judge
