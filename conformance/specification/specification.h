/// @file
/// The whole specification, with its crosschecks: as data and as pages of manual.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/golden/vector_file.h"

namespace lockstep::judge {

/// How an operator is checked independently of its text; nothing for data that is not installed.
struct Crosschecks {
  i64 examples = 0, laws = 0;
  std::optional<i64> vectors = {};
  std::optional<i64> independent = {};  ///< implementations from the mathematics alone
  std::optional<i64> libraries = {};    ///< that compute the operator too
  /// How many kinds of checks there are.
  int kinds() const;
};

/// The installed cross-checks. A file that is not installed is reported as null and counts for
/// nothing.
class Evidence {
 public:
  /// @param vectors a directory of golden vectors, or empty: not installed.
  /// @param crosschecks the file that names independent implementations, or empty: not installed.
  /// @throws UsageError naming what cannot be read.
  Evidence(const std::string& vectors, const std::string& crosschecks);

  /// The golden vector that shows an erratum of `op`; nothing if there is none.
  std::optional<std::string> vector_of(const Erratum& e, const OpInfo* op) const;

  Crosschecks crosschecks_of(const OpInfo& op) const;

 private:
  bool has_vectors_ = false;
  std::map<std::string, VectorFile> vectors_;  // by operator
  nlohmann::ordered_json crosschecks_;
};

/// Every erratum once, with its operators and the vector or the test that shows it: first those
/// about all operators, then operator by operator, then those about models.
nlohmann::ordered_json describe_errata(const Evidence& evidence);

/// Versions, limits, profiles, labels, errata, operators and their crosschecks.
/// specification_schema() describes it.
nlohmann::ordered_json describe_specification(const Evidence& evidence);
std::string specification_schema();

/// The differences between two specifications, one sentence each. Named elements, such as operators
/// and labels, are matched by name; an order is compared only where it has a meaning.
std::vector<std::string> specification_differences(
    const nlohmann::ordered_json& before, const nlohmann::ordered_json& after);

/// The limits of a page's width in columns, whatever the terminal's width.
inline constexpr int kMinPageWidth = 80, kMaxPageWidth = 100;

/// How a page is set.
struct PageStyle {
  int width = kMinPageWidth;  ///< columns of the text
  bool bold = false;          ///< headings and names, by terminal codes
};

/// Everything about an operator.
std::string operator_page(const OpInfo& op, const Evidence& evidence, const PageStyle& style);

/// Text broken between words into lines of at most `width` columns, each indented.
std::string filled_text(string_view text, int indent, int width);

}  // namespace lockstep::judge
