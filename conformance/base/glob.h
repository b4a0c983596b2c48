/// @file
/// Patterns of names, as users write them.
#pragma once
#include "spec/op.h"

namespace lockstep::judge {

/// Whether a text matches a pattern of '*' and '?', all of it.
bool glob(string_view pattern, string_view text);

}  // namespace lockstep::judge
