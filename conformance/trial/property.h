/// @file
/// What is judged: a property is one record in one header of properties/, none is per operator.
#pragma once
#include <algorithm>

#include "conformance/trial/finding.h"
#include "conformance/trial/probe.h"

namespace lockstep::judge {

/// The kinds of cases that a property is about, as a sum.
enum About { kLegal = 1, kIllegal = 2, kVectors = 4, kTyped = 8 };

/// A property holds of every trial it applies to.
struct Property {
  string_view name, text;
  int about = kLegal | kVectors;
  /// The options of a backend that it forces.
  std::vector<Forced> (*forced)(const Manifest&) = nullptr;
  /// Asks the subject again, in its own way. @return whether the backend is still there: a case
  /// that kills its process is not put again, for one death is one verdict.
  bool (*ask)(Probe&) = nullptr;
  /// Another property, whose observations it looks at instead of its own.
  const Property* observes = nullptr;
  /// Whether it says something of a trial; where there is none, if anything was observed.
  bool (*applies)(const Trial&) = nullptr;
  /// How the trial violates it; nothing if it does not. A property without is of whole runs.
  std::optional<Finding> (*inspect)(const Trial&, Observations) = nullptr;

  bool is_about(About kind) const { return (about & kind) != 0; }
  bool of_run() const { return !inspect; }
  Observations seen_in(const Trial& t) const { return t.of(observes ? *observes : *this); }
  bool holds_something_of(const Trial& t) const {
    return !of_run() && (applies ? applies(t) : !seen_in(t).empty());
  }
};

/// Whether it is among the named properties; where none is named all are meant.
inline bool is_meant(const Property& p, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), p.name) != names.end();
}

}  // namespace lockstep::judge
