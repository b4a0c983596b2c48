/// @file
/// Hashes of a backend's outputs, by which devices are compared.
#pragma once
#include <map>
#include <string>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// The number of calls and the sum of their outputs' hashes modulo 2^256. The order of the calls
/// does not matter, so that the shards of a run add up to the whole.
struct Outputs {
  i64 calls = 0;
  std::string sum = std::string(64, '0');  ///< hexadecimal

  /// @throws std::invalid_argument if `hash` is no hash.
  void add(const std::string& hash);
  void add(const Outputs& more);
  bool operator==(const Outputs&) const = default;
};

/// SHA-256 over a case's id and the backend's answer: the values of each output, or the kind and
/// label of an error, and the types that it states where they are not `types`.
std::string output_hash(const std::string& id, const Answer& a, const Inferred& types = {});

/// How many calls the outputs of all operators cover.
i64 digested(const std::map<std::string, Outputs>& by_operator);

/// SHA-256 over the outputs of every operator, by which devices are compared.
std::string digest_of(const std::map<std::string, Outputs>& by_operator);

/// Number of calls, case set and digest of all outputs, in one line for comparing devices.
std::string digest_line(
    const std::map<std::string, Outputs>& by_operator, const std::string& set_hash);

}  // namespace lockstep::judge
