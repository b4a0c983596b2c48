/// @file
/// Expectations about texts that several tests share.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace lockstep::judge {

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
}

inline int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

/// A document with another value in a place.
template <class Json>
Json with(Json document, const std::string& place, const std::type_identity_t<Json>& value) {
  document[typename Json::json_pointer(place)] = value;
  return document;
}

/// Expects an error of the type whose text has the part.
template <class Error, class Call> void expect_throws(const Call& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error that says '" << part << "'";
  } catch (const Error& e) {
    expect_contains(e.what(), part);
  }
}

/// The text of an error of the type; empty if there is none.
template <class Error, class Call> std::string words_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace lockstep::judge
