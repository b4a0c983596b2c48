/// @file
/// Words of strangers in the forms of reports: backends and reports may contain anything.
#pragma once
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// Text inside of HTML or XML, in an element or a quoted attribute. Bytes that are no UTF-8,
/// control characters and those that turn the direction of text become U+FFFD.
std::string markup(string_view text);

/// A code span of Markdown that holds exactly this text, in one line, also inside of a table.
std::string code_span(string_view text);

/// A code block of Markdown that holds exactly these lines.
std::string code_block(string_view lines);

}  // namespace lockstep::judge
