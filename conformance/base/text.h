/// @file
/// Escapes foreign text for reports: backends and report files may contain any bytes.
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

}  // namespace lockstep::judge
