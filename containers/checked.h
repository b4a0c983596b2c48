/// @file
/// int64 arithmetic that refuses to overflow, usable while compiling: there an overflow is an error
/// of the compilation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "containers/exceptions.h"
#include "spec/arithmetic.h"

namespace lockstep::ndarray {

/// Throws the error of a caller who asked for something impossible.
[[noreturn]] inline void refuse(const std::string& text) { throw utils::ValueVerifyFatal(text); }

/// Throws utils::ValueVerifyFatal "<what> does not fit int64".
[[noreturn]] inline void refuse_overflow(std::string_view what) {
  refuse(std::string(what) + " does not fit int64");
}

/// a * b, or nothing when it does not fit.
constexpr std::optional<i64> try_multiply(i64 a, i64 b) {
  i64 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a * b. @throws utils::ValueVerifyFatal "<what> does not fit int64".
constexpr i64 multiply(i64 a, i64 b, std::string_view what) {
  i64 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) refuse_overflow(what);
  return product;
}

/// a + b. @throws utils::ValueVerifyFatal "<what> does not fit int64".
constexpr i64 add(i64 a, i64 b, std::string_view what) {
  i64 sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) refuse_overflow(what);
  return sum;
}

}  // namespace lockstep::ndarray
