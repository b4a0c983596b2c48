/// @file
/// Assertions that throw. `CHECK(condition) << "text"` is for faults of the machine or of this
/// project and throws utils::LogMessageFatal, a runtime error (status 2); `VERIFY(condition) <<
/// "text"` is for faults of whoever supplied the input and throws utils::ValueVerifyFatal, a logic
/// error (status 1). The text of a runtime error has the condition and the line of the assertion,
/// `CHECK(size > 0) failed: text [internal: pool.cc:92]`, that of a logic error has what is
/// streamed alone. `CHECK_EQ(a, b)` and its siblings _NE _LT _LE _GT _GE evaluate each operand once
/// and print both. What is streamed is evaluated only when the assertion fails.
///
/// The exception leaves from an operator, the last one evaluated in the full expression, and not
/// from a destructor: an operand that throws by itself cannot end the program.
///
/// Include this from source files; a header that only names the exceptions includes exceptions.h,
/// so that its users keep the short macro names for themselves.
#pragma once

#include <concepts>
#include <locale>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "containers/exceptions.h"

namespace lockstep::utils::detail {

/// The file's own name: a full path would differ between build directories.
constexpr std::string_view file_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Integers compare by value, whatever their signs: -1 is less than 0u here. 8-bit integers are
/// numbers to us; a bool or a character is not.
template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
    !std::same_as<T, char32_t>;

template <class T> void print(std::ostream& out, const T& value) {
  if constexpr (Number<T>) {
    out << +value;
  } else if constexpr (std::is_enum_v<T>) {
    out << +static_cast<std::underlying_type_t<T>>(value);
  } else {
    out << value;
  }
}

/// Collects what an assertion says before it throws.
class Message {
 public:
  /// @param operands those of a comparison, " (3 vs. 4)"
  Message(std::string_view path, int line, std::string_view assertion, std::string operands = {})
      : place_(std::string(file_name(path)) + ":" + std::to_string(line)),
        assertion_(assertion),
        operands_(std::move(operands)) {
    text_.imbue(std::locale::classic());
  }
  template <class T> Message& operator<<(const T& value) {
    print(text_, value);
    return *this;
  }
  /// Conditions and lines of this project's sources say nothing to whoever supplied the input, but
  /// the search for a fault of this project or of the machine begins there.
  template <class Exception> std::string text() const {
    const std::string words = text_.str();
    if constexpr (std::derived_from<Exception, std::logic_error>) {
      return words.empty() ? assertion_ + operands_ + " failed" : words + operands_;
    } else {
      return assertion_ + operands_ + " failed" + (words.empty() ? "" : ": " + words) +
          " [internal: " + place_ + "]";
    }
  }

 private:
  std::string place_, assertion_, operands_;
  std::ostringstream text_;
};

/// `Throw<E>() & message` binds weaker than `<<`, so it runs after all text has been streamed.
template <class Exception> struct Throw {
  [[noreturn]] void operator&(const Message& message) const {
    throw Exception(message.text<Exception>());
  }
};

template <class A, class B> constexpr bool equal(const A& a, const B& b) {
  if constexpr (Number<A> && Number<B>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

template <class A, class B> constexpr bool less(const A& a, const B& b) {
  if constexpr (Number<A> && Number<B>) {
    return std::cmp_less(a, b);
  } else {
    return a < b;
  }
}

template <class A, class B> constexpr bool less_equal(const A& a, const B& b) {
  if constexpr (Number<A> && Number<B>) {
    return std::cmp_less_equal(a, b);
  } else {
    return a <= b;
  }
}

inline constexpr auto kEq = [](const auto& a, const auto& b) { return equal(a, b); };
inline constexpr auto kNe = [](const auto& a, const auto& b) { return !equal(a, b); };
inline constexpr auto kLt = [](const auto& a, const auto& b) { return less(a, b); };
inline constexpr auto kLe = [](const auto& a, const auto& b) { return less_equal(a, b); };
inline constexpr auto kGt = [](const auto& a, const auto& b) { return less(b, a); };
inline constexpr auto kGe = [](const auto& a, const auto& b) { return less_equal(b, a); };

/// The text of a failed comparison; converts to true when it failed.
class Failure {
 public:
  template <class Relation, class A, class B> Failure(Relation relation, const A& a, const B& b)
      : failed_(!relation(a, b)) {
    if (!failed_) return;
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << " (";
    print(out, a);
    out << " vs. ";
    print(out, b);
    out << ')';
    operands_ = out.str();
  }
  explicit operator bool() const { return failed_; }
  const std::string& operands() const { return operands_; }

 private:
  bool failed_;
  std::string operands_;
};

}  // namespace lockstep::utils::detail

// One expression without an `if`, so that an `else` that follows belongs to the caller's `if`.
#define LOCKSTEP_ASSERT_(Exception, assertion, condition)       \
  (condition) ? static_cast<void>(0)                            \
              : ::lockstep::utils::detail::Throw<Exception>() & \
          ::lockstep::utils::detail::Message(__FILE__, __LINE__, assertion)

// A loop for the same reason; its body does not return.
#define LOCKSTEP_COMPARE_(Exception, relation, call, a, b)                                  \
  while (const ::lockstep::utils::detail::Failure lockstep_failure =                        \
             ::lockstep::utils::detail::Failure(::lockstep::utils::detail::relation, a, b)) \
  ::lockstep::utils::detail::Throw<Exception>() &                                           \
      ::lockstep::utils::detail::Message(__FILE__, __LINE__, call, lockstep_failure.operands())

#define LOCKSTEP_CHECK_(relation, call, a, b) \
  LOCKSTEP_COMPARE_(::lockstep::utils::LogMessageFatal, relation, call, a, b)
#define LOCKSTEP_VERIFY_(relation, call, a, b) \
  LOCKSTEP_COMPARE_(::lockstep::utils::ValueVerifyFatal, relation, call, a, b)

/// Throws utils::LogMessageFatal unless the condition holds.
#define CHECK(condition) \
  LOCKSTEP_ASSERT_(::lockstep::utils::LogMessageFatal, "CHECK(" #condition ")", condition)
/// Throws utils::LogMessageFatal unless a == b.
#define CHECK_EQ(a, b) LOCKSTEP_CHECK_(kEq, "CHECK_EQ(" #a ", " #b ")", a, b)
/// Throws utils::LogMessageFatal unless a != b.
#define CHECK_NE(a, b) LOCKSTEP_CHECK_(kNe, "CHECK_NE(" #a ", " #b ")", a, b)
/// Throws utils::LogMessageFatal unless a < b.
#define CHECK_LT(a, b) LOCKSTEP_CHECK_(kLt, "CHECK_LT(" #a ", " #b ")", a, b)
/// Throws utils::LogMessageFatal unless a <= b.
#define CHECK_LE(a, b) LOCKSTEP_CHECK_(kLe, "CHECK_LE(" #a ", " #b ")", a, b)
/// Throws utils::LogMessageFatal unless a > b.
#define CHECK_GT(a, b) LOCKSTEP_CHECK_(kGt, "CHECK_GT(" #a ", " #b ")", a, b)
/// Throws utils::LogMessageFatal unless a >= b.
#define CHECK_GE(a, b) LOCKSTEP_CHECK_(kGe, "CHECK_GE(" #a ", " #b ")", a, b)

/// Throws utils::ValueVerifyFatal unless the condition holds.
#define VERIFY(condition) \
  LOCKSTEP_ASSERT_(::lockstep::utils::ValueVerifyFatal, "VERIFY(" #condition ")", condition)
/// Throws utils::ValueVerifyFatal unless a == b.
#define VERIFY_EQ(a, b) LOCKSTEP_VERIFY_(kEq, "VERIFY_EQ(" #a ", " #b ")", a, b)
/// Throws utils::ValueVerifyFatal unless a != b.
#define VERIFY_NE(a, b) LOCKSTEP_VERIFY_(kNe, "VERIFY_NE(" #a ", " #b ")", a, b)
/// Throws utils::ValueVerifyFatal unless a < b.
#define VERIFY_LT(a, b) LOCKSTEP_VERIFY_(kLt, "VERIFY_LT(" #a ", " #b ")", a, b)
/// Throws utils::ValueVerifyFatal unless a <= b.
#define VERIFY_LE(a, b) LOCKSTEP_VERIFY_(kLe, "VERIFY_LE(" #a ", " #b ")", a, b)
/// Throws utils::ValueVerifyFatal unless a > b.
#define VERIFY_GT(a, b) LOCKSTEP_VERIFY_(kGt, "VERIFY_GT(" #a ", " #b ")", a, b)
/// Throws utils::ValueVerifyFatal unless a >= b.
#define VERIFY_GE(a, b) LOCKSTEP_VERIFY_(kGe, "VERIFY_GE(" #a ", " #b ")", a, b)
