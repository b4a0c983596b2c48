/// @file
/// Whose fault it is: the two exceptions that every error of this project derives from.
#pragma once

#include <stdexcept>

namespace lockstep::utils {

/// A fault of the machine or of this project: status 2.
class LogMessageFatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A fault of the caller or of what the caller supplied: status 1.
class ValueVerifyFatal : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace lockstep::utils
