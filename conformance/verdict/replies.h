/// @file
/// What the judge reads in the memory that it shares with a backend. A right backend leaves nothing
/// there to be noticed, so that a mistake in reading it would not show.
#pragma once
#include <string>
#include <vector>

#include "conformance/host/channel.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A tensor of a question as a host is told of it, all but its place.
std::string text_of(const Slot& s);

/// Lays questions for a host, writes replies and bytes there that the number draws, and tells what
/// is read back. The same on every machine.
std::string read_back(std::vector<Question> questions, u64 draw);

}  // namespace lockstep::judge
