/// @file
/// What published schemas say of documents, and that a reader says the same.
#pragma once
#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace lockstep::judge {

/// Takes each key of an object inside a document away, and adds an unknown one: the reader accepts
/// what is left where the schema does. What lacks a key of `paired` is refused, too.
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

inline bool matches(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

/// What a JSON value violates of a schema of the few words that ours uses; empty: nothing.
inline std::string violation(const nlohmann::json& schema, const nlohmann::json& value,
    const std::string& at, const nlohmann::json& root) {
  using nlohmann::json;
  static const std::set<std::string> kWords = {"$schema", "$defs", "$ref", "title", "description",
      "type", "const", "enum", "required", "properties", "additionalProperties", "items", "minimum",
      "maximum", "pattern"};
  if (schema.is_boolean()) return schema.get<bool>() ? "" : at + " is not allowed";
  for (const auto& [word, rule] : schema.items())
    if (!kWords.contains(word)) return "unknown " + word;
  if (schema.contains("$ref")) {
    const json::json_pointer there(schema["$ref"].get<std::string>().substr(1));
    return violation(root.at(there), value, at, root);
  }
  const std::string type = schema.value("type", "");
  const bool fits =
      type.empty() || type == value.type_name() || (type == "integer" && value.is_number_integer());
  if (!fits) return at + " is no " + type;
  if (schema.contains("const") && schema["const"] != value) return at + " has another value";
  if (schema.contains("enum")) {
    const json& all = schema["enum"];
    if (std::find(all.begin(), all.end(), value) == all.end()) return at + " is none of the words";
  }
  if (schema.contains("minimum") && value < schema["minimum"]) return at + " is too small";
  if (schema.contains("maximum") && value > schema["maximum"]) return at + " is too large";
  if (schema.contains("pattern") &&
      !matches(value.get<std::string>(), schema["pattern"].get<std::string>()))
    return at + " does not match";
  for (const json& key : schema.value("required", json::array()))
    if (!value.contains(key.get<std::string>())) return at + " lacks " + key.dump();
  const json known = schema.value("properties", json::object());
  const json others = schema.value("additionalProperties", json(true));
  std::string first;
  for (const auto& [key, member] : value.items()) {
    if (value.is_object())
      first = violation(known.contains(key) ? known[key] : others, member, at + "/" + key, root);
    else if (value.is_array())
      first = violation(schema.value("items", json(true)), member, at + "/" + key, root);
    if (!first.empty()) return first;
  }
  return "";
}

inline std::string violation(const nlohmann::json& schema, const nlohmann::json& value) {
  return violation(schema, value, "", schema);
}

}  // namespace lockstep::judge
