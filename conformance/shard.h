/// @file
/// The processes of a run: each judges its share of the cases with a backend of its own.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/journal.h"
#include "conformance/judge.h"
#include "conformance/property.h"
#include "conformance/quarantine.h"

namespace lockstep::judge {

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

/// Judges every item that the journal does not know, and hands all results over in the items'
/// order. Which items are quarantined and which have canaries is decided in that order, too, so
/// that it does not depend on the number of jobs. Where the conduct interrupts it, some are left
/// out.
/// @throws std::runtime_error if a process of the judge's own ends early.
void judge_in_processes(const std::string& backend, const std::vector<const Item*>& items,
                        const TrialPlan& plan, const Selection& selection, const Conduct& conduct,
                        int jobs, Journal* journal,
                        const std::function<bool(std::size_t, const ItemResult&)>& take);

/// Judges one trial by the selected properties.
ItemResult judge_trial(const Trial& t, const Selection& selection);

}  // namespace lockstep::judge
