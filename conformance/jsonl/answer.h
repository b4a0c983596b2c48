/// @file
/// Answers of backends, the same for all adapters.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/witness/witness.h"

namespace lockstep::judge {

/// Shape and precision, as a backend states them.
struct TensorType {
  std::vector<i64> shape;
  int precision = 0;  ///< 0: an adapter states none
  bool operator==(const TensorType&) const = default;
};

/// How a question ended.
enum class AnswerKind {
  ok,
  logic_error,
  runtime_error,
  unsupported,
  crashed,    ///< its process ended
  timed_out,  ///< no answer in time
  protocol,   ///< what is no valid answer
  printed,    ///< other output in place of an answer; its process was ended for that
  /// Bytes that nobody awaits, too many, or an answer to another question; its process was ended
  /// for that.
  broken_channel
};

/// Whether a process was ended for what it wrote where only answers belong.
constexpr bool stray(AnswerKind k) {
  return k == AnswerKind::printed || k == AnswerKind::broken_channel;
}

/// Whether its process ended, or was ended, in place of an answer.
constexpr bool gone(AnswerKind k) {
  return k == AnswerKind::crashed || k == AnswerKind::timed_out || stray(k);
}

/// A backend's answer to one question.
struct Answer {
  AnswerKind kind = AnswerKind::ok;
  std::string label = {}, message = {};
  std::string path = {};                   ///< the kernel that ran
  i64 threads = 0;                         ///< that shared the work; 0: the backend does not say
  bool unsteady = false;                   ///< an immediate repetition wrote other outputs
  int changed_run = 0;                     ///< the first run with other outputs for the same values
  std::vector<std::vector<i32>> out = {};  ///< values of each output, row-major
  std::vector<TensorType> types = {};      ///< of infer, and of adapters whose answers carry types
  std::string out_damage = {};           ///< how memory beside the outputs was written; else empty
  std::string in_damage = {};            ///< how an input was changed; else empty
  std::optional<ValueTally> tally = {};  ///< of a range of values that a witness compared
  bool ok() const { return kind == AnswerKind::ok; }
  bool gone() const { return judge::gone(kind); }
  /// Whether the judge waited as long as it does for any answer, or for the end of a flood.
  bool takes_long() const {
    return kind == AnswerKind::timed_out || kind == AnswerKind::broken_channel;
  }
};
string_view name_of(AnswerKind k);
/// What a backend did: "answered unsupported", and where it gave no answer only "crashed".
std::string deed(AnswerKind k);

/// Foreign text made fit to be shown: control characters become question marks.
std::string printable(std::string text);

}  // namespace lockstep::judge
