/// @file
/// What several tests expect of texts.
#pragma once
#include <gtest/gtest.h>

#include <string>

namespace lockstep::judge {

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
}

}  // namespace lockstep::judge
