/// @file
/// The golden vectors at the boundaries of labels that only readers of text and data give.
#pragma once
#include <string>
#include <vector>

#include "spec/info.h"

namespace lockstep::judge {

/// A vector beside the boundary of a label.
struct TextWitness {
  const OpInfo* op = nullptr;
  std::string label;
  bool legal = false;  ///< the side of the boundary
  std::string id;
};

/// Whether a label of text is about a number and so has a last legal value.
bool has_legal_side(const std::string& label);

/// The vectors of a directory at a boundary: those that one change makes legal, and those with last
/// legal values.
std::vector<TextWitness> text_witnesses(const std::string& directory);

}  // namespace lockstep::judge
