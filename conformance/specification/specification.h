/// @file
/// The whole specification as data, and what vouches for it.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/golden/vector_file.h"

namespace lockstep::judge {

/// What the program has beside the headers. Of what is not installed nothing is known: it is
/// reported as null, and never counts as a cross-check.
class Evidence {
 public:
  /// @param vectors a directory of golden vectors, or empty: not installed.
  /// @param crosschecks the file that names the operators written again, or empty: not installed.
  /// @throws UsageError naming what cannot be read.
  Evidence(const std::string& vectors, const std::string& crosschecks);

  /// The golden vector that shows an erratum of `op`, or nothing where there is none.
  std::optional<std::string> vector_of(const Erratum& e, const OpInfo* op) const;

  /// The cross-checks of an operator, each with its count, and how many kinds there are.
  nlohmann::ordered_json crosschecks_of(const OpInfo& op) const;

  bool has_vectors() const { return has_vectors_; }

 private:
  bool has_vectors_ = false;
  std::map<std::string, VectorFile> vectors_;  // by operator
  nlohmann::ordered_json crosschecks_;
};

/// Every erratum once, with the operators it is about and the vector or the test that shows it:
/// first those about all operators, then operator by operator, then those about models.
nlohmann::ordered_json describe_errata(const Evidence& evidence);

/// Everything: versions, limits, profiles, labels, errata, operators and their cross-checks. Its
/// form is conformance/specification/spec.schema.json.
nlohmann::ordered_json describe_specification(const Evidence& evidence);

/// What differs between two specifications as data, one sentence each. Operators, labels,
/// attributes and whatever else has a name are matched by it; an order counts where it means
/// something.
std::vector<std::string> specification_differences(const nlohmann::ordered_json& before,
                                                   const nlohmann::ordered_json& after);

}  // namespace lockstep::judge
