/// @file
/// Progress messages of a run.
#pragma once
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// One line: how many cases are done, and how long the rest will take at the pace so far.
std::string progress_text(const std::string& what, i64 done, i64 all, i64 failed, double seconds);

}  // namespace lockstep::judge
