/// @file
/// Which golden vectors stand at the labels that only readers of text and data give.
#pragma once
#include <string>
#include <vector>

#include "spec/info.h"

namespace lockstep::judge {

/// A vector beside the border of a label.
struct TextWitness {
  const OpInfo* op = nullptr;
  std::string label;
  bool legal = false;  ///< on which side of the border it stands
  std::string id;
};

/// Whether a label of text is about a number, so that there is a last legal one.
bool has_legal_side(const std::string& label);

/// The vectors of a directory that one change makes legal, and those whose values are the last
/// legal ones.
std::vector<TextWitness> text_witnesses(const std::string& directory);

}  // namespace lockstep::judge
