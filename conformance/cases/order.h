/// @file
/// The order of judgement: calls that violate two rules at once.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A step of the order of judgement: a label, and for labels of inputs which one it is about.
struct Step {
  std::string label;
  int input = -1;
  /// As `input.rank of input 1`.
  std::string text() const;
};

/// A call that violates two rules and gets the label of the first, and two repaired calls that
/// violate one of the rules each.
struct DoubleViolation {
  Case call, only_first, only_second;
  Step first, second;
};

/// The known order of judgement of an operator's calls.
struct Order {
  /// For each step, a call that violates it and the nearest later one, of another label, that can
  /// be violated beside it.
  std::vector<DoubleViolation> calls;
  /// Pairs of steps closer to each other, for which no call was found that violates both.
  std::vector<std::pair<Step, Step>> apart;
  /// Steps that no change of one number of a legal call violates.
  std::vector<Step> unseen;
};

/// The order of judgement of calls with types.
Order order_of(const OpInfo& op, u64 seed);

}  // namespace lockstep::judge
