/// @file
/// JSON text read front to back, value by value, without building a tree.
///
/// `eval` needs what a tree loses: the text of an identifier, integers beyond 64 bits and duplicate
/// keys. Memory stays proportional to the line, and nesting uses no stack.
#pragma once
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spec/arithmetic.h"

namespace lockstep::judge {

/// The text is not JSON (RFC 8259); the message says where.
struct NotJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The place in a JSON text where the next value begins. Every member throws NotJson.
class JsonCursor {
 public:
  enum class Type { object, array, string, number, boolean, null };

  explicit JsonCursor(std::string_view text) : text_(text) {}

  /// The type of the next value.
  Type type();
  /// Skips the next value, whatever its type. @return its text
  std::string_view skip();
  /// The characters of a string.
  std::string string();
  /// The text of a number.
  std::string_view number();
  /// Reads an object; `member(key)` has to move past the value of each key.
  template <class F> void object(F member) {
    for (bool more = open('{', '}'); more; more = again('}')) {
      const std::string k = key();
      member(k);
    }
  }
  /// Reads an array; `element()` has to move past each value.
  template <class F> void array(F element) {
    for (bool more = open('[', ']'); more; more = again(']')) element();
  }
  /// Requires that only blanks follow.
  void end();

 private:
  char peek();                       // the next character that is no blank, 0 at the end
  bool open(char first, char last);  // false for an empty object or array
  bool again(char last);             // after a value: false at the closing bracket
  std::string key();                 // a key and its colon
  std::string_view string_text();    // with its quotes; sets plain_
  void literal(std::string_view word);
  void scalar();
  std::size_t digits();
  [[noreturn]] void fail(const char* why) const;

  std::string_view text_;
  std::size_t at_ = 0;
  bool plain_ = false;  // the last string was ASCII without escapes
};

/// The integer that a JSON number spells, saturated to 64 bits; none for a fraction or an exponent.
std::optional<i64> integer_of(std::string_view number);

}  // namespace lockstep::judge
