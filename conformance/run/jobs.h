/// @file
/// The judging processes of a run. Each opens the backend itself and judges its share of the cases.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/run/journal.h"
#include "conformance/run/judge.h"
#include "conformance/run/quarantine.h"

namespace lockstep::judge {

/// The number of judging processes: as many as processors, unless the conduct says otherwise.
int jobs_of(const Conduct& conduct);
/// The same for processes that hold this backend; one, if they would take turns on a device.
int jobs_of(const Conduct& conduct, const Subject& subject);

/// Whether each failing case is put again, to learn whether it always fails in the same way: no
/// expectation may excuse, or list, one that does not.
bool repeats_failures(const Conduct& conduct);

/// Judges every item that the journal does not know, and hands all results over in the items'
/// order. Quarantine and canaries are decided in that order, too, so that they do not depend on
/// the number of jobs. An interrupted run hands over fewer results.
/// @throws std::runtime_error if a process of the judge's own ends early.
void judge_in_processes(const std::string& backend, const std::vector<const Item*>& items,
    const TrialPlan& plan, const Selection& selection, const Conduct& conduct, int jobs,
    Journal* journal, const std::function<bool(std::size_t, const ItemResult&)>& take);

}  // namespace lockstep::judge
