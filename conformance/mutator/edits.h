/// @file
/// Mechanical mistakes in C++ sources: one operator, constant, bound, type or condition is changed
/// at a time. They are not chosen with the tests in mind.
#pragma once
#include <string>
#include <vector>

#include "spec/op.h"

namespace lockstep::judge {

/// A token of a source text, of a kind that mutation needs to distinguish.
struct Token {
  enum Category { name, number, punctuation, literal, comment, directive };
  Category kind;
  std::size_t begin, end;  ///< bytes of the text
};

/// The tokens of C++ in order. Any text is accepted; one that is no C++ gives useless tokens.
std::vector<Token> tokens(string_view text);

/// One change to a source file.
struct Edit {
  std::string file;        ///< relative to the tree
  std::size_t begin, end;  ///< the bytes that are replaced
  std::string replacement;
  string_view kind;  ///< comparison, arithmetic, logic, constant, bound, type, condition, jump
  int line;          ///< from 1
};

/// Every edit of a file, in the order of the text. Comments, strings, preprocessor lines and static
/// assertions are not edited, because they do not change the program. Types of bounded numbers
/// (loop variables, counters, constants) and estimates (buffer sizes, reserve(), times, every
/// double) are not edited, because they do not change results.
std::vector<Edit> edits_of(const std::string& file, string_view text);

/// The text with the change made.
std::string edited(string_view text, const Edit& e);
/// The line of an edit, without the spaces around it.
std::string line_of(string_view text, const Edit& e);

}  // namespace lockstep::judge
