/// @file
/// An operator as a page for a terminal, in the manner of a manual page.
#pragma once
#include <string>

#include "conformance/specification/specification.h"

namespace lockstep::judge {

/// The limits of a page's width in columns, whatever the terminal's width.
inline constexpr int kMinPageWidth = 80, kMaxPageWidth = 100;

/// How a page is set.
struct PageStyle {
  int width = kMinPageWidth;  ///< columns of the text
  bool bold = false;          ///< headings and names, by terminal codes
};

/// Everything about an operator.
std::string operator_page(const OpInfo& op, const Evidence& evidence, const PageStyle& style);

/// Text broken between words into lines of at most `width` columns, each indented.
std::string filled_text(string_view text, int indent, int width);

}  // namespace lockstep::judge
