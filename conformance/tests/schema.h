/// @file
/// Checks that published schemas and readers agree about documents.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace lockstep::judge {

/// Takes each key of an object inside a document away, and adds an unknown one: the reader must
/// accept the result exactly if the schema does. It also refuses an object that lacks a key of
/// `paired`.
template <class Reads> void expect_agreement(const nlohmann::json& schema,
    const nlohmann::json& document, const nlohmann::json::json_pointer& object, Reads reads,
    const std::set<std::string>& paired) {
  ASSERT_TRUE(reads(document)) << document;
  EXPECT_EQ(schema["additionalProperties"], false);
  const nlohmann::json& required = schema["required"];
  for (const auto& [key, value] : document[object].items()) {
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
    nlohmann::json less = document;
    less[object].erase(key);
    const bool needed = std::find(required.begin(), required.end(), key) != required.end();
    EXPECT_EQ(reads(less), !needed && !paired.contains(key)) << object << " " << key;
  }
  nlohmann::json more = document;
  more[object]["unknown"] = 1;
  EXPECT_FALSE(reads(more)) << more;
}

}  // namespace lockstep::judge
