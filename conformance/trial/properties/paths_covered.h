#pragma once
#include "conformance/trial/properties/isa.h"

namespace lockstep::judge {

/// Judged once for the whole run, from the kernels that all its answers name.
inline constexpr Property kPathsCovered{.name = "paths_covered",
    .text = "every runnable kernel of the manifest ran",
    .about = kLegal,
    .observes = &kIsa};

}  // namespace lockstep::judge
