/// @file
/// What the judge reads in the memory that it shares with a backend. A right backend leaves nothing
/// there to be noticed, so that a mistake in reading it would not show.
#pragma once
#include <string>
#include <vector>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// Lays questions for a host, writes replies and bytes there that the number draws, and tells what
/// is read back. The same on every machine.
std::string read_back(std::vector<Question> questions, u64 draw);

}  // namespace lockstep::judge
