/// @file
/// Mistakes a program can make in C++ sources: one operator, constant, bound, type or condition
/// changed at a time. Mechanical: nobody chose them for what the tests see.
#pragma once
#include <string>
#include <vector>

#include "spec/op.h"

namespace lockstep::judge {

/// A piece of a source text, as far as mutation has to tell them apart.
struct Token {
  enum Category { name, number, punctuation, literal, comment, directive };
  Category kind;
  std::size_t begin, end;  ///< bytes of the text
};

/// The tokens of C++ in order. A text that is no C++ gives tokens of no use, but always ends.
std::vector<Token> tokens(string_view text);

/// One change to a source file.
struct Edit {
  std::string file;        ///< relative to the tree
  std::size_t begin, end;  ///< the bytes that are replaced
  std::string replacement;
  string_view kind;  ///< comparison, arithmetic, logic, constant, bound, type, condition, jump
  int line;          ///< from 1
};

/// Every change that mutation knows for a file, in the order of the text. Comments, text,
/// preprocessor lines and static assertions stay: changing them changes no program. The types of
/// bounded numbers (loop variables, counters, constants) stay, and whatever estimates (buffer
/// sizes, reserve(), times, every double): changing them changes no result.
std::vector<Edit> edits_of(const std::string& file, string_view text);

/// The text with the change made.
std::string edited(string_view text, const Edit& e);
/// The line of an edit, without the spaces around it.
std::string line_of(string_view text, const Edit& e);

}  // namespace lockstep::judge
