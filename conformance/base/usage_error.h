/// @file
/// The error for wrong input of a user.
#pragma once
#include <stdexcept>

namespace lockstep::judge {

/// The command line or a file that it names is wrong: exit code 2.
struct UsageError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace lockstep::judge
