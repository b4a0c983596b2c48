/// @file
/// What a run that is at work says of itself.
#pragma once
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// One line: how many of all cases are done, and how long the others will take if they take as long
/// as these.
std::string progress_text(const std::string& what, i64 done, i64 all, i64 failed, double seconds);

}  // namespace lockstep::judge
