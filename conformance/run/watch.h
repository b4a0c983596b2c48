/// @file
/// Whether the process that holds a backend notices what it must: canaries of what watches memory.
#pragma once
#include <vector>

#include "conformance/cases/item.h"
#include "conformance/subjects/subject.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// After a run in which every case passed, has the host commit faults in the backend's place, and
/// counts those that its answers show. If a machine does not guard memory, no backend can be found
/// to break it.
/// @param put the cases of the run
/// @param limits those of the process
void plant_in_process(
    Report& r, Subject& subject, const std::vector<const Item*>& put, const Limits& limits);

}  // namespace lockstep::judge
