/// @file
/// Shrinking: finds smaller cases that still fail, with RapidCheck.
#pragma once
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// Gives each failure of a report the smallest failing case found. The limits count trials, calls,
/// elements and multiply-adds; no clock influences the result.
void shrink_failures(Report& r, Subject& subject, const TrialPlan& plan);

/// The smallest case found that still violates the property, or the case itself.
/// @param text receives the finding of the smallest case.
Case shrink(Subject& subject, const TrialPlan& plan, const std::string& property, const Case& from,
    std::string& text);

}  // namespace lockstep::judge
