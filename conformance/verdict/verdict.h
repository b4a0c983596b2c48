/// @file
/// What came of one case: the properties' findings on its trial, and how it ended.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "conformance/trial/finding.h"
#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// How a case ended.
enum class Outcome { passed, failed, crashed, timed_out, quarantined };

/// What came of one case.
struct ItemResult {
  Outcome outcome = Outcome::passed;
  int calls = 0;
  enum Canary { none, flagged, missed } canary = none;  ///< planted in its outputs
  std::string quarantine;                               ///< why it was not put, if it was not
  std::vector<std::string> judged, paths;
  std::vector<std::pair<std::string, Finding>> findings;  ///< by property
  std::string outputs;  ///< hash of what a call that runs was answered with
};

/// Judges one trial by some properties, by all where none is named.
ItemResult judge_trial(const Trial& t, const std::vector<std::string>& properties);

/// Flips one bit of a returned output and looks whether the judge notices, in the way that every
/// case goes. @param n number of the case, from which the bit follows
ItemResult::Canary canary(const Trial& t, u64 n);

}  // namespace lockstep::judge
