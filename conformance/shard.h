/// @file
/// The processes of a run: each judges its share of the cases with a backend of its own.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/judge.h"
#include "conformance/property.h"

namespace lockstep::judge {

enum class Outcome { passed, failed, crashed, timed_out, quarantined };

/// What came of one case.
struct ItemResult {
  Outcome outcome = Outcome::passed;
  int calls = 0;
  std::vector<std::string> judged, paths;
  std::vector<std::pair<std::string, Finding>> findings;  ///< by property
  std::string outputs;  ///< hash of what a call that runs was answered with
};

struct ShardTotals {
  i64 canaries_planted = 0, canaries_flagged = 0;
  std::vector<std::string> quarantine;
};

/// Judges every item and hands the results over in the items' order.
/// @throws std::runtime_error if a process of the judge's own ends early.
ShardTotals judge_in_processes(const std::string& backend, const std::vector<const Item*>& items,
                               const TrialPlan& plan, const Selection& selection,
                               const Conduct& conduct, int jobs,
                               const std::function<bool(std::size_t, const ItemResult&)>& take);

/// Judges one trial by the selected properties.
ItemResult judge_trial(const Trial& t, const Selection& selection);

}  // namespace lockstep::judge
