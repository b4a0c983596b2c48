/// @file
/// Boundary values: changes one parameter of a legal call until a rule is violated, then goes back
/// to the last value that violates none.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A parameter of a call: a number, the length of a list, or a switch.
struct Parameter {
  enum What {
    count,      ///< of inputs
    rank,       ///< of an input
    extent,     ///< of an input along an axis
    precision,  ///< of an input
    entries,    ///< of a tuple attribute
    entry,      ///< a number of an attribute
    flag,       ///< a boolean attribute
    none        ///< whether an optional attribute is None
  } what = count;
  int which = 0;  ///< the input or the attribute
  int at = 0;     ///< the axis or the entry
  bool operator==(const Parameter&) const = default;
};

/// The parameters of a call; of many inputs only those of the first few.
std::vector<Parameter> parameters(const Case& c);
i64 value_of(const Case& c, const Parameter& k);
/// Sets a parameter. Shapes grow by extents of 1, tuples by copies of their last entry.
void set(Case& c, const Parameter& k, i64 v);
/// The values to try for a parameter: its legal range and, where possible, one step beyond each
/// end.
Range turns(const Case& c, const Parameter& k);

/// The last legal value of a parameter on the way to another, and the illegal value beside it.
struct Edge {
  i64 legal, illegal;
};

/// The edge of a legal call's parameter on the way to `end`; nothing if every value is legal.
std::optional<Edge> boundary_of(const Case& c, const Parameter& k, i64 end);

/// Two calls that differ by one step of one parameter.
struct Boundary {
  Case legal, illegal;
  std::string label;  ///< of the illegal one
  Parameter parameter;
};

/// For each typed label, `attr.length` and `attr.range`, the boundaries at which the label begins:
/// one for each kind of parameter and direction, in the order of judgement. A label that no single
/// parameter reaches has none; the caller decides whether that is an error.
std::vector<Boundary> boundaries(const OpInfo& op, u64 seed);

/// The labels of all calls one step away, sorted; the empty label stands for a legal call.
std::vector<std::string> labels_beside(const Case& c);

/// A legal call that the domain may not draw: some of its numbers are changed at random.
Case varied_case(const OpInfo& op, Draw& draw);

}  // namespace lockstep::judge
