/// @file
/// Judges answers that were given while an option of the backend was forced.
#pragma once
#include "conformance/trial/properties/same_result.h"

namespace lockstep::judge {

/// The first answer that is wrong or ignores the forced option.
/// @param disobeyed says of a Forced and an Answer how the backend ignored it; nothing if not.
template <class F>
std::optional<Finding> inspect_forced(const Trial& t, Observations seen, F disobeyed) {
  if (std::any_of(seen.begin(), seen.end(),
          [&](const Observation& o) { return other_result(t, *o.answer).has_value(); })) {
    for (const Observation& o : seen)
      if (std::optional<Finding> f = difference(t.expected, *o.answer)) {
        f->text = o.when + ": " + f->text;
        return f;
      }
    return Finding{
        "every forced " + seen[0].forced->option + " is right, and the plain call is not", {}};
  }
  for (const Observation& o : seen)
    if (std::optional<Finding> f = disobeyed(*o.forced, *o.answer)) return f;
  return std::nullopt;
}

}  // namespace lockstep::judge
