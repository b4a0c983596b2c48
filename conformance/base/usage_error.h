/// @file
/// The error of a user's words.
#pragma once
#include <stdexcept>

namespace lockstep::judge {

/// The user's words are wrong: exit code 2.
struct UsageError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace lockstep::judge
