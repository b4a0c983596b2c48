/// @file
/// The classes that a legal call shows of its attributes, inputs and memory. They derive from an
/// operator's description; only a search can say whether its rules permit a call of a class.
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The number of terms from which a sum of 8-bit products can exceed 2^24.
constexpr i64 kDeep = 1041;

/// One class of one parameter of a call.
struct CallClass {
  std::string axis;   ///< what is classified, as `attribute padding` or `precision of X`
  std::string value;  ///< the class, as `zero` or `9..16`
  bool operator==(const CallClass&) const = default;
  bool operator<(const CallClass& o) const {
    return std::tie(axis, value) < std::tie(o.axis, o.value);
  }
};

/// The classes of attributes, types and memory that an operator's description allows.
std::vector<CallClass> call_classes(const OpInfo& op);
/// The classes of one call.
std::vector<CallClass> call_classes(const Case& c);

/// The classes of the values of inputs.
std::vector<CallClass> value_classes(const OpInfo& op);
/// The classes of one call's values.
std::vector<CallClass> value_classes(const Case& c, const std::vector<Tensor>& in);

/// Numbers the classes of an operator's calls: comparing names would be slow for many calls.
class ClassNumbers {
 public:
  /// @param numbered call_classes(op) and value_classes(op) in an order of choice.
  ClassNumbers(const OpInfo& op, const std::vector<CallClass>& numbered);
  /// The places in this order of the classes that a call and its values show, ascending.
  std::vector<int> of(const Case& c, const std::vector<Tensor>& in) const;

 private:
  std::vector<int> numbers_;  // by axis and class
};

/// Whether each output of a call repeats one value, so that it tells little about a kernel.
bool is_constant(const std::vector<Tensor>& out);

/// Attempt number `n` at a legal call that shows these classes and has at most `most` elements;
/// nothing if the call is illegal or too large. A returned call may miss some of the classes.
std::optional<Case> attempt(
    const OpInfo& op, const std::vector<CallClass>& wanted, i64 most, int n, Draw& draw);

/// A legal call that shows a class of call_classes and has at most `most` elements; nothing if
/// `tries` attempts find none.
std::optional<Case> aimed_case(
    const OpInfo& op, const CallClass& f, i64 most, int tries, Draw& draw);

}  // namespace lockstep::judge
