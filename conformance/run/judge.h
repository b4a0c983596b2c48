/// @file
/// The judge: puts every selected case to a backend, in several processes, and reports.
#pragma once
#include <functional>
#include <string>

#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// How a run is carried out; none of it makes a backend pass or fail.
struct Conduct {
  Limits limits;
  int jobs = 0;  ///< processes; 0: as many as processors
  bool shrink = true;
  std::string journal;       ///< file to go on with, and to write into; empty: none
  std::string expectations;  ///< file of failures that are known; empty: none
  std::string today;         ///< as 2026-01-31, for expectations that expire
  /// Asked now and then; where it says so the run ends, and what was not judged is missing.
  std::function<bool()> interrupted;
  /// Ends the run with the first case that fails; those after it are missing from the report.
  bool until_failure = false;
  std::function<void(i64 done, i64 all, i64 failed)> progress;
  std::function<void(i64 number, const ItemResult&)> record;  ///< told of each case in order
};

/// Judges a backend. One that loading kills is reported as a crash, with every case quarantined.
/// @throws UsageError for a wrong selection or no backend.
Report judge(const std::string& backend, const Selection& selection, const Conduct& conduct);

/// The same by cases that select_cases() has already made of the selection.
Report judge(const std::string& backend, const Selection& selection, const std::vector<Item>& items,
             const Conduct& conduct);

}  // namespace lockstep::judge
