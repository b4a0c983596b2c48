/// @file
/// The JSON Lines protocol: one call a line, one answer a line. The judge writes calls and reads
/// answers in the adapter `exec:`; `eval` reads calls and writes answers.
///
/// A call: {"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[2],"data":[-1,1]}]}
/// An answer: {"id":1,"status":"ok","out":[{"shape":[2],"prec":8,"data":[0,1]}]}, with "path" for
/// the kernel that ran where the manifest lists kernels, or
/// {"id":1,"status":"logic_error","label":"relu.shape","message":"why"}; "runtime_error" and
/// "unsupported" alike. A tensor may have "b64", little-endian int32 in base64, instead of "data".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

/// Stands for every integer outside int32; it is illegal in every precision.
inline constexpr i32 kOutsideInt32 = INT32_MIN;

/// A line read as a call that may be illegal, or the reason why it is no call.
struct Request {
  std::string id = "null";  ///< JSON text of a scalar, as it was written
  std::string op;
  std::vector<std::pair<std::string, std::string>> attrs;  ///< in order, doubles included
  std::vector<Type> types;                                 ///< perhaps illegal; saturated
  std::vector<std::optional<std::vector<i32>>> data;       ///< none: all zeros
  std::string label, message;                              ///< `line.*`, if it is no call
};

/// Reads line `number` (from 1). Errors are judged in the order line.json, line.key, line.count. A
/// duplicate key is line.key; a duplicate attribute is an error of the call. Nothing is allocated
/// for a shape, and data is not counted against an illegal one.
Request read_request(std::string_view line, i64 number);

/// The line, without its end, of a call. Attributes have canonical names and defaults filled in;
/// those without effect are left out. An input without a tensor is all zeros.
std::string write_request(const Case& c, const std::vector<Tensor>& in, std::string_view id);

/// The line of a call whose attributes are texts. With inputs, which only a legal call has, it
/// names the operator by its alias if there is one.
std::string write_text_request(
    const Case& c, const AttrTexts& attrs, const std::vector<Tensor>& in, std::string_view id);

/// The line, without its end, of an answer. Answers that only an adapter can give (crashed,
/// timed_out, protocol) become runtime errors labelled `backend.*`.
std::string write_answer(const Answer& a, std::string_view id);

/// Reads an answer to the request `id`; of kind `protocol` if the line is no answer to it.
Answer read_answer(std::string_view line, std::string_view id);

/// The same for foreign text: made printable, and quoted where it is no answer.
Answer read_reply(std::string_view line, std::string_view id);

/// The answer; of kind `protocol` if it is ok but does not have `n` outputs.
Answer of_outputs(Answer a, int n);

/// The start of a text, in quotes, with everything but printable ASCII escaped.
std::string quote(std::string_view text);

/// The JSON Schema (draft 2020-12) of both kinds of line.
std::string line_schema();

}  // namespace lockstep::judge
