/// @file
/// Merges the reports of a run's shards.
#pragma once
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// A report and the file that it was read from.
struct Named {
  std::string file;
  Report report;
};

/// The report of the whole run.
/// @throws UsageError if a part is missing, is given twice, or belongs to another run.
Report merged(const std::vector<Named>& parts);

}  // namespace lockstep::judge
