/// @file
/// Properties: each is one record in one header of properties/, and applies to all operators.
#pragma once
#include <algorithm>

#include "conformance/trial/finding.h"
#include "conformance/trial/probe.h"

namespace lockstep::judge {

/// The kinds of cases to which a property applies; kinds are added up.
enum About { kLegal = 1, kIllegal = 2, kVectors = 4, kTyped = 8 };

/// A statement that must hold of every trial to which it applies.
struct Property {
  string_view name, text;
  int about = kLegal | kVectors;
  /// The options of a backend that the property forces.
  std::vector<Forced> (*forced)(const Manifest&) = nullptr;
  /// Puts the case again, in the property's own way.
  void (*ask)(Probe&) = nullptr;
  /// Another property, whose observations this one inspects instead of its own.
  const Property* observes = nullptr;
  /// Whether the property applies to a trial. nullptr: it applies where it observed anything.
  bool (*applies)(const Trial&) = nullptr;
  /// How the trial violates the property; nothing if it does not. nullptr: it judges whole runs.
  std::optional<Finding> (*inspect)(const Trial&, Observations) = nullptr;
  /// A canary: plants a fault in what the property observed of a trial in which it holds. Each
  /// property with an inspect() has one. @param draw chooses the place
  /// @return whether there was a place
  bool (*plant)(Trial&, std::span<Observation>, u64 draw) = nullptr;

  bool is_about(About kind) const { return (about & kind) != 0; }
  constexpr bool of_run() const { return !inspect; }
  Observations seen_in(const Trial& t) const { return t.of(observes ? *observes : *this); }
  bool holds_something_of(const Trial& t) const {
    return !of_run() && (applies ? applies(t) : !seen_in(t).empty());
  }
};

/// Whether the property is among the named ones; an empty list means all.
inline bool is_meant(const Property& p, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), p.name) != names.end();
}

}  // namespace lockstep::judge
