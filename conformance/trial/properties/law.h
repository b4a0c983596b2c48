/// @file
/// Judges the laws of operators on a backend's own outputs.
#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

/// Whether a law says that the batch around a result does not matter.
bool is_batch_law(const LawInfo& law);

/// How the first violated law is violated; nothing if all observed laws hold.
std::optional<Finding> broken_law(const Trial& t, Observations seen);

}  // namespace lockstep::judge
