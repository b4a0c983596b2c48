/// @file
/// The JSON Lines of `lockstep eval`: one call a line, one answer a line. The judge writes calls
/// and reads answers at the door `exec:`; `eval` reads calls and writes answers.
///
/// A call: {"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[2],"data":[-1,1]}]}
/// An answer: {"id":1,"status":"ok","out":[{"shape":[2],"prec":8,"data":[0,1]}]}
/// or {"id":1,"status":"logic_error","label":"relu.shape","message":"why"}; "runtime_error" and
/// "unsupported" alike. A tensor may have "b64", little-endian int32 in base64, instead of "data".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// What stands for every integer outside int32: no legal value at any precision.
inline constexpr i32 kOutsideInt32 = INT32_MIN;

/// A line as a call that is still to be judged, or the reason why it is none.
struct Request {
  std::string id = "null";  ///< JSON text of a scalar, as it was written
  std::string op;
  std::vector<std::pair<std::string, std::string>> attrs;  ///< in order, doubles included
  std::vector<Type> types;                                 ///< perhaps illegal; saturated
  std::vector<std::optional<std::vector<i32>>> data;       ///< none: all zeros
  std::string label, message;                              ///< `line.*`, where it is no call
};

/// Reads line `number` (from 1). What is wrong is judged in the order line.json, line.key,
/// line.count. A key given twice is line.key, but an attribute given twice is the call's own error.
/// Nothing is allocated for a shape, and data is not counted against an illegal one.
Request read_request(std::string_view line, i64 number);

/// The line, without its end, that puts a call. Attributes have canonical names, defaults filled
/// in; those without effect are left out. An input without a tensor is all zeros.
std::string write_request(const Case& c, const std::vector<Tensor>& in, std::string_view id);

/// The line, without its end, that gives an answer. Answers that only a door can give (crashed,
/// timed_out, protocol) become runtime errors labelled `backend.*`.
std::string write_answer(const Answer& a, std::string_view id);

/// Reads an answer to the request `id`; of kind `protocol` if it is none.
Answer read_answer(std::string_view line, std::string_view id);

/// The same of a stranger's words: made printable, and quoted where they are no answer.
Answer read_reply(std::string_view line, std::string_view id);

/// The answer if it is none that is ok with another number of outputs than `n`.
Answer of_outputs(Answer a, int n);

/// The start of a text, in quotes, with everything but printable ASCII escaped.
std::string quote(std::string_view text);

/// The JSON Schema (draft 2020-12) of both kinds of line.
std::string line_schema();

}  // namespace lockstep::judge
