#pragma once
#include <string>

#include "conformance/trial/property.h"

namespace lockstep::judge {

/// How the answer to close() violates the property; empty if it does not.
inline std::string closing_violation(const Answer& a) {
  return a.ok() ? "" : "close(): " + a.message;
}

/// Judged once for the whole run, after calls in every configuration, one of them the largest call.
inline constexpr Property kCloses{
    .name = "closes", .text = "close() ends without a crash, and in time", .about = kLegal};

}  // namespace lockstep::judge
