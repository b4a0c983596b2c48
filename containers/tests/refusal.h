/// @file
/// The message of a logic error, and of a runtime error.
#pragma once

#include <string>

#include "containers/exceptions.h"

namespace lockstep::ndarray {

/// The text of the logic error that a call ends with; "accepted" when it ends without.
template <class F>
std::string refusal(const F& call) {
  try {
    static_cast<void>(call());
  } catch (const utils::ValueVerifyFatal& e) {
    return e.what();
  }
  return "accepted";
}

/// The text of the runtime error that a call ends with; "succeeded" when it ends without.
template <class F>
std::string failure(const F& call) {
  try {
    call();
  } catch (const utils::LogMessageFatal& e) {
    return e.what();
  }
  return "succeeded";
}

}  // namespace lockstep::ndarray
