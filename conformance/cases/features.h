/// @file
/// What a legal call shows: one class of one of its attributes, inputs or memories. All classes
/// derive from an operator's row; whether its rules let a call show one is for a search to say.
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Terms from which sums of 8-bit products pass 2^24.
constexpr i64 kDeep = 1041;

/// A class of one thing about a call.
struct Feature {
  std::string axis;   ///< what is classified, as `attribute padding` or `precision of X`
  std::string value;  ///< the class, as `zero` or `9..16`
  bool operator==(const Feature&) const = default;
  bool operator<(const Feature& o) const {
    return std::tie(axis, value) < std::tie(o.axis, o.value);
  }
};

/// The features of attributes, types and memory that the row of an operator has room for.
std::vector<Feature> call_features(const OpInfo& op);
/// Those of one call.
std::vector<Feature> call_features(const Case& c);

/// The features of the values of inputs.
std::vector<Feature> value_features(const OpInfo& op);
/// Those of one call.
std::vector<Feature> value_features(const Case& c, const std::vector<Tensor>& in);

/// Numbers the classes of an operator's calls, for who looks at very many of them: names are slow.
class Classes {
 public:
  /// @param numbered call_features(op) and value_features(op) in an order of choice.
  Classes(const OpInfo& op, const std::vector<Feature>& numbered);
  /// The places in this order of the classes that a call and its values show, ascending.
  std::vector<int> of(const Case& c, const std::vector<Tensor>& in) const;

 private:
  std::vector<int> numbers_;  // by axis and class
};

/// Whether every output of a call holds one value: whatever wrote them, they say little.
bool is_constant(const std::vector<Tensor>& out);

/// Number `n` of a row of attempts at a legal call that shows these features and has at most `most`
/// elements; nothing if it is illegal or too large. It need not show them.
std::optional<Case> attempt(const OpInfo& op, const std::vector<Feature>& wanted, i64 most, int n,
                            Draw& draw);

/// A legal call that shows a feature of call_features and has at most `most` elements; nothing if
/// so many tries find none.
std::optional<Case> aimed_case(const OpInfo& op, const Feature& f, i64 most, int tries, Draw& draw);

}  // namespace lockstep::judge
