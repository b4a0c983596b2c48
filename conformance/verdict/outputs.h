/// @file
/// What a backend computed, as numbers that two devices can compare.
#pragma once
#include <string>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// The outputs of many calls: how many, and the sum of their hashes modulo 2^256. The order of the
/// calls does not count, so that the parts of a run add up to the whole.
struct Outputs {
  i64 calls = 0;
  std::string sum = std::string(64, '0');  ///< hexadecimal

  /// @throws std::invalid_argument if it is none.
  void add(const std::string& hash);
  void add(const Outputs& more);
  bool operator==(const Outputs&) const = default;
};

/// SHA-256 over a case's line and what the backend answered to it: the values of each output, or
/// the kind and label of an error.
std::string output_hash(const std::string& id, const Answer& a);

}  // namespace lockstep::judge
