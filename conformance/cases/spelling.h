/// @file
/// Attributes of a call in other words.
#pragma once
#include "conformance/cases/case.h"

namespace lockstep::judge {

/// How many ways there are to spell the attributes of a call.
inline constexpr std::size_t kSpellingWays = 6;

/// Spells the attributes of a legal call in way `way` of kSpellingWays. Way 0 leaves out all
/// defaults; the others mix whatever the grammar allows: aliases, signs, zeros, blanks, brackets,
/// annotations.
AttrTexts spelled(const Case& c, std::size_t way);

}  // namespace lockstep::judge
