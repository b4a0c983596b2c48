/// @file
/// Where legal calls end: every number of a call as a knob, turned until a rule is violated, then
/// back to the last step that violates none.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A number of a call, the length of one of its lists, or one of its switches.
struct Knob {
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
  bool operator==(const Knob&) const = default;
};

/// The knobs of a call; of many inputs those of the first few.
std::vector<Knob> knobs(const Case& c);
i64 value_of(const Case& c, const Knob& k);
/// Turns a knob. Lists grow by extents of 1 or by their last entry.
void set(Case& c, const Knob& k, i64 v);
/// One step beyond what a knob may legally show; both ends included.
Range turns(const Case& c, const Knob& k);

/// The last legal value of a knob of a legal call towards an end of its turns, then the illegal one
/// beside it; nothing where every value on the way is legal.
std::optional<Interval> boundary_of(const Case& c, const Knob& k, i64 end);

/// Two calls one step of one knob apart.
struct Boundary {
  Case legal, illegal;
  std::string label;  ///< of the illegal one
  Knob knob;
};

/// For each label of calls with types (and for `attr.length` and `attr.range`) pairs at which it
/// begins: one for each kind of knob that leads to it, in each direction. In the order of
/// judgement. A label that no knob reaches has none: the caller decides.
std::vector<Boundary> boundaries(const OpInfo& op, u64 seed);

/// The labels of all calls one step away, sorted; an empty one if some of these are legal.
std::vector<std::string> labels_beside(const Case& c);

/// A legal call beyond what the domain draws: some of its numbers changed at random.
Case varied_case(const OpInfo& op, Draw& draw);

}  // namespace lockstep::judge
