/// @file
/// Text: patterns of names, progress in words, and foreign text escaped for reports, since backends
/// and report files may contain any bytes.
#pragma once
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// Text for HTML or XML, in an element or a quoted attribute. Bytes that are not UTF-8, control
/// characters and characters that change the direction of text become U+FFFD.
std::string markup(string_view text);

/// A code span of Markdown that holds exactly this text, in one line, valid inside a table.
std::string code_span(string_view text);

/// A code block of Markdown that holds exactly these lines.
std::string code_block(string_view lines);

/// Whether the whole text matches a pattern of '*' and '?'.
bool glob(string_view pattern, string_view text);

/// How many were done in so many seconds.
struct Pace {
  i64 done;
  double seconds;
};

/// One line: how many cases are done and, unless none were lately or none are left, how long the
/// rest will take at that pace.
/// @param unit what is counted, in the plural
std::string progress_text(const std::string& what, i64 done, i64 all, i64 failed,
    const Pace& lately, const char* unit = "cases");

}  // namespace lockstep::judge
