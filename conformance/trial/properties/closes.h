#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

/// Judged once for the whole run, after calls in every configuration, one of them the largest call.
inline constexpr Property kCloses{
    .name = "closes", .text = "close() ends without a crash, and in time", .about = kLegal};

}  // namespace lockstep::judge
