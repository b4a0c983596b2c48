/// @file
/// `lockstep eval`: reads calls and writes answers, line by line.
#pragma once
#include <iosfwd>
#include <string_view>

#include "conformance/jsonl/lines.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// The answer to line `number`, whatever the line contains. Malformed and illegal calls are refused
/// here, but illegal ones are put to a backend that claims to refuse them itself.
std::string eval_line(Subject& subject, std::string_view line, i64 number);

/// Answers every line in order and flushes each answer. A blank line counts as a line; text after
/// the last line end counts only if it is not empty.
/// @return the exit code: 0, or 4 if reading or writing failed.
int eval_lines(Subject& subject, std::istream& in, std::ostream& out);

}  // namespace lockstep::judge
