/// @file
/// What a refused call says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "containers/exceptions.h"

namespace lockstep::ndarray {

/// The text of the logic error that a call ends with; "accepted" when it ends without.
template <class F> std::string refusal(const F& call) {
  try {
    static_cast<void>(call());
  } catch (const utils::ValueVerifyFatal& e) {
    return e.what();
  }
  return "accepted";
}

/// Expects that a call ends with a logic error which says this, among other things.
template <class F> void expect_refused(const std::string& text, const F& call) {
  const std::string answer = refusal(call);
  EXPECT_NE(answer.find(text), std::string::npos) << answer;
}

/// The text of the runtime error that a call ends with; "succeeded" when it ends without.
template <class F> std::string failure(const F& call) {
  try {
    call();
  } catch (const utils::LogMessageFatal& e) {
    return e.what();
  }
  return "succeeded";
}

}  // namespace lockstep::ndarray
