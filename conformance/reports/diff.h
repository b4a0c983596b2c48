/// @file
/// Compares two runs.
#pragma once
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// A difference between two runs.
struct Change {
  bool result;  ///< of results; else of backend or machine, which may differ
  std::string text;
};

/// All differences between two reports, results first.
std::vector<Change> changes(const Report& before, const Report& after);

/// The operators for which two runs computed different outputs or different calls.
std::vector<std::string> differing_outputs(const Report& a, const Report& b);

/// Number of calls, case set and digest of all outputs, in one line for comparing devices.
std::string digest_line(const Report& r);

}  // namespace lockstep::judge
