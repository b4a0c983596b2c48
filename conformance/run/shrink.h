/// @file
/// Smaller cases that still fail, found through RapidCheck's shrinking.
#pragma once
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// Gives each failure of a report the smallest failing case found within limits that are counted,
/// in trials, calls, elements and multiply-adds: no clock has a say in what is found.
void shrink_failures(Report& r, Subject& subject, const TrialPlan& plan);

/// The smallest case found that still violates the property, or the case itself.
/// @param text is set to what the smallest case shows.
Case shrink(Subject& subject, const TrialPlan& plan, const std::string& property, const Case& from,
            std::string& text);

}  // namespace lockstep::judge
