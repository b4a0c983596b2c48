/// @file
/// `lockstep eval`: calls in, answers out, line by line.
#pragma once
#include <iosfwd>
#include <string_view>

#include "conformance/jsonl/lines.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// The answer of a backend to line `number`, whatever the line is. What a call's text or the
/// specification refuses never reaches the backend, unless it claims to refuse illegal calls
/// itself: then it is asked, and its answer is the answer.
std::string eval_line(Subject& subject, std::string_view line, i64 number);

/// Answers every line in order and hands each answer on at once. A blank line is a line; what
/// follows the last line's end is one only if it is not empty.
/// @return the exit code: 0, or 4 if reading or writing failed.
int eval_lines(Subject& subject, std::istream& in, std::ostream& out);

}  // namespace lockstep::judge
