/// @file
/// Findings: how a property was violated, and the comparison of outputs that most properties use.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// A wrong element of an output.
struct Element {
  i64 output = 0;
  std::vector<i64> index;
  i64 expected = 0, got = 0;
};
inline constexpr std::size_t kElements = 8;  ///< wrong elements shown per call

/// How a property was violated.
struct Finding {
  std::string text;  ///< what happened, in a sentence or two
  AnswerKind kind = AnswerKind::ok;
  std::string hint = {};               ///< the pattern of the wrong elements, if there is one
  std::vector<Element> elements = {};  ///< the first wrong elements
  std::string label = {};              ///< of the error that was answered
};

/// A type in words: its shape and precision.
std::string type_text(const TensorType& t);

/// What was answered, in words: the kind, the label and the message.
std::string answer_text(const Answer& a);

/// How an answer differs from the expected outputs, by their types if it states some, then by their
/// values; nothing if it does not.
std::optional<Finding> difference(const std::vector<Tensor>& expected, const Answer& got);

}  // namespace lockstep::judge
