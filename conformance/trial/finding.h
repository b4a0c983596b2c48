/// @file
/// How a property was violated, and the comparison of outputs that most properties rest on.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// An element of an output that is not what it should be.
struct Element {
  i64 output = 0;
  std::vector<i64> index;
  i64 expected = 0, got = 0;
};
inline constexpr std::size_t kElements = 8;  ///< shown of a call

/// How a property was violated.
struct Finding {
  std::string text;  ///< what happened, in a sentence or two
  AnswerKind kind = AnswerKind::ok;
  std::string hint = {};               ///< where the wrong elements are, if that has a pattern
  std::vector<Element> elements = {};  ///< the first wrong elements
};

/// How an answer differs from the expected outputs; nothing if it does not.
std::optional<Finding> difference(const std::vector<Tensor>& expected, const Answer& got);

}  // namespace lockstep::judge
