/// @file
/// What failures have in common: how wrong values differ from right ones, and texts without the
/// numbers that differ from case to case.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "conformance/trial/finding.h"

namespace lockstep::judge {

/// A way in which a wrong value may come from the right one.
struct Relation {
  const char* words;
  bool (*holds)(i64 want, i64 got);
  bool names_type = false;  ///< it blames a type, for which one value is no evidence
};

/// All relations, those that say most first.
std::span<const Relation> relations();

/// Whether a relation holds for every element shown, of which there is one at least.
bool holds(const Relation& r, const std::vector<Element>& elements);

/// The relation of these words, or nullptr.
const Relation* relation_of(const std::string& words);

/// The text with a '#' for each number, address and list of numbers, and with nothing in quotes,
/// since these differ between cases with the same cause.
std::string without_details(const std::string& text);

}  // namespace lockstep::judge
