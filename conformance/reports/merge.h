/// @file
/// The parts of a run that several machines shared, put together again.
#pragma once
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// A report and the file that it was read from.
struct Named {
  std::string file;
  Report report;
};

/// The report of the whole run.
/// @throws UsageError where a part is missing or there twice, or is of another run.
Report merged(const std::vector<Named>& parts);

}  // namespace lockstep::judge
