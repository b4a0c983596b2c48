/// @file
/// The result of one case: its outcome and the properties' findings on its trial.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "conformance/trial/finding.h"
#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// How a case ended.
enum class Outcome { passed, failed, crashed, timed_out, quarantined };

/// The result of one case.
struct ItemResult {
  Outcome outcome = Outcome::passed;
  int calls = 0;
  enum Canary { none, flagged, missed } canary = none;  ///< planted in its outputs
  std::string quarantine;  ///< why the case was not put to the backend; else empty
  std::vector<std::string> judged, paths;
  std::vector<std::pair<std::string, Finding>> findings;  ///< by property
  std::string outputs;  ///< hash of the answer to a call that runs
};

/// Judges one trial by some properties; an empty list means all.
ItemResult judge_trial(const Trial& t, const std::vector<std::string>& properties);

/// Flips one bit of a returned output and judges the trial again, to see whether the judge notices.
/// @param n the number of the case, which determines the bit
ItemResult::Canary canary(const Trial& t, u64 n);

}  // namespace lockstep::judge
