/// @file
/// What a call of the C interface must say when it fails.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "runtime/capi/cvm.h"

inline std::string last_error() { return CVMGetLastError(); }

/// Expects that a call fails, and that the text of the failure has some words in it.
inline void expect_failure(int status, const std::string& words, int expected = CVM_LOGIC) {
  EXPECT_EQ(status, expected) << last_error();
  EXPECT_NE(last_error().find(words), std::string::npos) << "'" << last_error() << "'";
}
