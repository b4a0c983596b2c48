/// @file
/// The judge: puts every selected case to a backend, in several processes, and makes a report.
#pragma once
#include <functional>
#include <string>

#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// How a run is carried out. None of it changes whether a backend passes.
struct Conduct {
  Limits limits = {};
  int jobs = 0;  ///< processes; 0: as many as processors, or one for a device's backend
  bool shrink = true;
  std::string journal = {};          ///< file to continue and to write; empty: none
  std::string expectations = {};     ///< file of known failures; empty: none
  bool writes_expectations = false;  ///< whether a file of them is made of the report
  std::string today = {};            ///< as 2026-01-31, for expectations that expire
  /// Polled during the run; once it returns true the run ends. Cases not judged are missing, and a
  /// run that is ended before or after its cases is incomplete, too.
  Interruption interrupted = {};
  /// Ends the run at the first case that fails; the cases after it are missing from the report.
  bool until_failure = false;
  std::function<void(i64 done, i64 all, i64 failed)> progress = {};
  std::function<void(i64 number, const ItemResult&)> record =
      {};                                         ///< called for each case in order
  std::function<void(const Item&)> failing = {};  ///< called for each case that fails, in order
};

/// Judges a backend. If it dies while it is loaded, the report says so and quarantines every case.
/// @throws UsageError for a wrong selection or no backend.
/// @throws std::runtime_error if cases or right outputs are not the frozen ones (frozen.h).
Report judge(const std::string& backend, const Selection& selection, const Conduct& conduct);

/// Judges a backend by the cases that select_cases() made of the selection.
Report judge(const std::string& backend, const Selection& selection, const std::vector<Item>& items,
    const Conduct& conduct);

/// Shrinks the cases of a report's failures, wrong values first, until the work for one report is
/// done. Work counts trials, calls, elements and multiply-adds; no clock influences the result.
/// @param interrupted ends the work early once it returns true
void shrink_failures(
    Report& r, Subject& subject, const TrialPlan& plan, const Interruption& interrupted = {});

/// The smallest case found that fails as the failure's case does, or that case itself: it violates
/// the same property with the same outcome, kind of answer and label, with values that are wrong in
/// the same way, and shows the classes of attributes that the failure's cases share. Its id is
/// short (kMaxShown) unless that of the failure's case is long.
/// @param text receives the finding of the smallest case.
Case shrink(Subject& subject, const TrialPlan& plan, const Failure& failure, std::string& text,
    const Interruption& interrupted = {});

}  // namespace lockstep::judge
