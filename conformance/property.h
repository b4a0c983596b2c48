/// @file
/// What is judged. One file per property, none per operator.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/trial.h"

namespace lockstep::judge {

/// An element of an output that is not what it should be.
struct Element {
  i64 output = 0;
  std::vector<i64> index;
  i64 expected = 0, got = 0;
};
inline constexpr std::size_t kElements = 8;  ///< shown of a call

/// How a property was violated.
struct Finding {
  std::string text;  ///< what happened, in a sentence or two
  Answer::Kind kind = Answer::Kind::ok;
  std::string hint = {};               ///< where the wrong elements are, if that has a pattern
  std::vector<Element> elements = {};  ///< the first wrong elements
};

/// A property holds of every trial it applies to.
struct Property {
  string_view name, text;
  bool (*applies)(const Trial&);
  std::optional<Finding> (*inspect)(const Trial&);
};

extern const Property kMatchesVectors, kMatchesReference, kDeterministic, kWritesAll,
    kWritesInBounds, kInputsUntouched, kAlignment, kLayout, kConstants, kIsa, kThreads, kConcurrent,
    kBatch, kLaws, kRejects, kInfers;

/// Every property of single trials, in the order of reports.
const std::vector<const Property*>& properties();

/// The property of whole runs: every kernel that can run here ran.
inline constexpr string_view kPathsCovered = "paths_covered";

/// How an answer differs from the expected outputs; nothing if it does not.
std::optional<Finding> difference(const std::vector<Tensor>& expected, const Answer& got);

/// How the first broken one of these laws is broken; nothing if they hold.
std::optional<Finding> broken_law(const std::vector<LawTrial>& tried);

}  // namespace lockstep::judge
