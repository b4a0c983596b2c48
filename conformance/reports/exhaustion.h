/// @file
/// What lockstep exhaust found, as text and as JSON.
#pragma once
#include <string>

#include "conformance/run/exhaust.h"

namespace lockstep::judge {

/// One sentence: how many values were compared, of how many, and what was left out.
std::string exhaustion_line(const Exhaustion& e);

/// A line for each operator, the first wrong values with the commands that repeat them, and
/// exhaustion_line().
std::string exhaustion_text(const Exhaustion& e);

/// The same as JSON, for programs.
std::string exhaustion_json(const Exhaustion& e);

}  // namespace lockstep::judge
