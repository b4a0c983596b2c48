/// @file
/// Two runs compared.
#pragma once
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// Something in which two runs differ.
struct Change {
  bool result;  ///< of what was computed or found; else of backend or place, which may well differ
  std::string text;
};

/// Everything in which two reports differ, results first.
std::vector<Change> changes(const Report& before, const Report& after);

/// The operators of which two runs computed different outputs, or not the same calls.
std::vector<std::string> differing_outputs(const Report& a, const Report& b);

/// Number of calls, case set and digest of all outputs: one line that two devices compare.
std::string digest_line(const Report& r);

}  // namespace lockstep::judge
