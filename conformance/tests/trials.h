/// @file
/// Trials of one case for a test.
#pragma once
#include <string>
#include <vector>

#include "conformance/trial/properties.h"
#include "conformance/trial/trial.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {

inline Item item_of_case(const std::string& id) {
  const Case c = parse_case(id);
  return {what_of(c), c, refusal(c).label(), id, {}};
}

inline TrialPlan plan_of(const std::vector<const Property*>& asking) {
  TrialPlan p;
  for (const Property* one : asking) p.ways.push_back({one, {}});
  return p;
}

}  // namespace lockstep::judge
