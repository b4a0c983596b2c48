/// @file
/// Documents described once. A structure has one function `fields(form, value)`, which names each
/// member; writing it as JSON, reading it back and its JSON Schema follow from that.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/base/sha256.h"
#include "conformance/base/usage_error.h"
#include "spec/random.h"

namespace lockstep::judge::form {

using json = nlohmann::ordered_json;

/// A structure `T`, const for writing and mutable for reading.
template <class R, class T>
concept Like = std::same_as<std::remove_const_t<R>, T>;

/// The largest count in a document: readers of JSON in many languages hold no larger integer.
inline constexpr i64 kMaxCount = (i64{1} << 53) - 1;

/// Limits of a member beside its type. The rule of a list or a map applies to its elements.
struct Rule {
  i64 min = 0, max = kMaxCount;         ///< of integers
  std::vector<std::string> words = {};  ///< the only legal texts; none: any text
  bool hash = false;                    ///< a SHA-256 in lower-case hexadecimal, or empty
  const char* text = "";                ///< what a reader of the schema should know
  const char* pattern = "";             ///< a regular expression for texts; reading ignores it
  bool filled = false;                  ///< lists and texts are not empty; reading ignores it
  int decimals = 0;                     ///< decimal places of a number that is no integer
};

/// A number, or nan, inf or -inf as a word, for which JSON has no numbers. Written only.
struct NumberOrWord {
  json value;
};

/// A place in a document, which must outlive those inside it. Its text is made only for an error.
class Place {
 public:
  template <std::convertible_to<std::string_view> T> Place(const T& text) : name_(text) {}
  Place(const Place& outer, std::string_view member) : outer_(&outer), name_(member) {}
  Place(const Place& outer, std::size_t element) : outer_(&outer), element_(element) {}
  std::string text() const {
    if (!outer_) return std::string(name_);
    return outer_->text() + "/" + (element_ ? std::to_string(*element_) : std::string(name_));
  }

 private:
  const Place* outer_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> element_;
};

[[noreturn]] inline void wrong(const Place& at, const std::string& why) {
  const std::string text = at.text();
  throw UsageError((text.empty() ? "the document" : text) + " " + why);
}

template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <class T> struct IsMap : std::false_type {};
template <class T> struct IsMap<std::map<std::string, T>> : std::true_type {};
/// Members in an order of their own.
template <class T> using Pairs = std::vector<std::pair<std::string, T>>;
template <class T> struct IsMap<Pairs<T>> : std::true_type {};
template <class T> T& added(std::map<std::string, T>& m, const std::string& key) { return m[key]; }
template <class T> T& added(Pairs<T>& m, const std::string& key) {
  return m.emplace_back(key, T()).second;
}
template <class T>
concept List = std::ranges::range<const T> && !Text<T> && !IsMap<T>::value;
template <class T> struct IsArray : std::false_type {};
template <class T, std::size_t N> struct IsArray<std::array<T, N>> : std::true_type {};
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
template <class T> struct IsVariant : std::false_type {};
template <class... T> struct IsVariant<std::variant<T...>> : std::true_type {};

// ---- writing ---------------------------------------------------------------------------------

class FormWriter;
template <class T> json written(const T& value);

inline double rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale;
}

/// Writes an object, its members in the order in which they are named.
class FormWriter {
 public:
  template <class T> void operator()(const char* key, const T& value, const Rule& rule = {}) {
    if constexpr (std::floating_point<T>)
      out_[key] = rounded(value, rule.decimals);
    else
      out_[key] = written(value);
  }
  /// A member that is present only if earlier members say so.
  template <class T> void when(bool there, const char* key, const T& value, const Rule& rule = {}) {
    if (there) (*this)(key, value, rule);
  }
  /// A member that is left out if it is empty, or 0.
  template <class T> void optional(const char* key, const T& value, const Rule& rule = {}) {
    if constexpr (std::integral<T>) {
      if (value != 0) (*this)(key, value, rule);
    } else if constexpr (IsOptional<T>::value) {
      if (value) (*this)(key, *value, rule);
    } else {
      if (!value.empty()) (*this)(key, value, rule);
    }
  }
  /// A member that says what kind of document this is.
  template <class T> void constant(const char* key, const T& value) { out_[key] = value; }
  /// A member that follows from the others.
  template <class T> void derived(const char* key, const T& value, const Rule& rule = {}) {
    (*this)(key, value, rule);
  }
  /// Members that stand together in an object of their own.
  template <class F> void object(const char* key, F members) {
    FormWriter inner;
    members(inner);
    out_[key] = inner.out_;
  }
  /// The same, but written only if `there`.
  template <class F> void optional_object(const char* key, bool there, F members) {
    if (there) object(key, members);
  }
  /// A condition on the members named so far. Only a reader checks it.
  template <class F> void require(F, const std::string&) {}
  json take() { return std::move(out_); }

 private:
  json out_ = json::object();
};

template <class T> json written(const T& value) {
  if constexpr (std::same_as<T, json> || std::is_arithmetic_v<T> || Text<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::same_as<T, NumberOrWord>) {
    return value.value;
  } else if constexpr (IsOptional<T>::value) {
    return value ? written(*value) : json();
  } else if constexpr (IsVariant<T>::value) {
    return std::visit([](const auto& one) { return written(one); }, value);
  } else if constexpr (List<T>) {
    json all = json::array();
    for (const auto& element : value) all.push_back(written(element));
    return all;
  } else if constexpr (IsMap<T>::value) {
    json all = json::object();
    for (const auto& [key, element] : value) all[key] = written(element);
    return all;
  } else {
    FormWriter w;
    fields(w, value);
    return w.take();
  }
}

// ---- reading ---------------------------------------------------------------------------------

template <class T> void read(const json& j, const Place& at, T& value, const Rule& rule = {});

/// Reads an object, and refuses what is missing, wrong or unknown.
class FormReader {
 public:
  FormReader(const json& j, const Place& at) : in_(j), at_(at) {
    if (!in_.is_object()) wrong(at_, "is no object");
  }
  template <class T> void operator()(const char* key, T& value, const Rule& rule = {}) {
    read(member(key), Place(at_, key), value, rule);
  }
  template <class T> void optional(const char* key, T& value, const Rule& rule = {}) {
    known_.push_back(key);
    if (!in_.contains(key)) return;
    if constexpr (IsOptional<T>::value)
      (*this)(key, value.emplace(), rule);
    else
      (*this)(key, value, rule);
  }
  template <class T> void when(bool there, const char* key, T& value, const Rule& rule = {}) {
    if (there) (*this)(key, value, rule);
  }
  template <class T> void constant(const char* key, const T& value) {
    if (member(key) != json(value))
      wrong({at_, key}, "is " + in_[key].dump() + ", this program reads " + json(value).dump());
  }
  /// Requires the member but ignores its value: parsed() derives it again and compares.
  template <class T> void derived(const char* key, const T&, const Rule& = {}) { member(key); }
  template <class F> void object(const char* key, F members) {
    FormReader inner(member(key), Place(at_, key));
    members(inner);
    inner.finish();
  }
  template <class F> void optional_object(const char* key, bool, F members) {
    if (in_.contains(key)) object(key, members);
  }
  template <class F> void require(F holds, const std::string& otherwise) {
    if (!holds()) wrong(at_, otherwise);
  }
  void finish() const {
    for (const auto& [key, value] : in_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        wrong({at_, key}, "is unknown");
  }

 private:
  const json& member(const char* key) {
    known_.push_back(key);
    if (!in_.contains(key)) wrong({at_, key}, "is missing");
    return in_[key];
  }

  const json& in_;
  const Place at_;
  std::vector<std::string_view> known_;
};

template <std::integral T>
void read_integer(const json& j, const Place& at, T& value, const Rule& rule) {
  if constexpr (std::same_as<T, u64>) {
    if (!j.is_number_unsigned()) wrong(at, "is no integer of 64 bits without a sign");
    value = j.get<u64>();
  } else {
    const bool large = j.is_number_unsigned() && !std::in_range<i64>(j.get<u64>());
    if (!j.is_number_integer() || large) wrong(at, "is no integer of 64 bits");
    const auto number = j.get<i64>();
    if (number < rule.min || number > rule.max || !std::in_range<T>(number))
      wrong(at, "is " + std::to_string(number) + ", out of its range");
    value = static_cast<T>(number);
  }
}

template <class T> void read(const json& j, const Place& at, T& value, const Rule& rule) {
  if constexpr (std::same_as<T, json>) {
    value = j;
  } else if constexpr (List<T>) {
    if (!j.is_array()) wrong(at, "is no list");
    for (std::size_t k = 0; k < j.size(); ++k) read(j[k], Place(at, k), value.emplace_back(), rule);
  } else if constexpr (IsMap<T>::value) {
    if (!j.is_object()) wrong(at, "is no object");
    for (const auto& [key, element] : j.items())
      read(element, Place(at, key), added(value, key), rule);
  } else if constexpr (std::same_as<T, bool>) {
    if (!j.is_boolean()) wrong(at, "is neither true nor false");
    value = j.get<bool>();
  } else if constexpr (std::integral<T>) {
    read_integer(j, at, value, rule);
  } else if constexpr (std::is_enum_v<T>) {
    int number = 0;
    read_integer(j, at, number, rule);
    value = static_cast<T>(number);
  } else if constexpr (std::floating_point<T>) {
    if (!j.is_number()) wrong(at, "is no number");
    value = j.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!j.is_string()) wrong(at, "is no text");
    value = j.get<std::string>();
    if (rule.hash && !value.empty() && !is_hash(value)) wrong(at, "is no SHA-256");
    if (!rule.words.empty() &&
        std::find(rule.words.begin(), rule.words.end(), value) == rule.words.end())
      wrong(at, "is '" + value + "', none of the words it may be");
  } else {
    FormReader r(j, at);
    fields(r, value);
    r.finish();
  }
}

/// Parses JSON. Refuses an object with two members of one name, because readers differ in which of
/// them they take.
/// @throws UsageError
json json_of(const std::string& text);

/// Reads a document.
/// @throws UsageError naming the place and what is wrong there.
template <class T> T loaded(const json& j) {
  T value;
  read(j, "", value);
  return value;
}

/// Reads a document whose derived members `settle` computes; the text must agree with them.
/// @throws UsageError naming the place and what is wrong there.
template <class T> T parsed(
    const std::string& text, void (*settle)(T&) = [](T&) {}) {
  const json j = json_of(text);
  T value = loaded<T>(j);
  settle(value);
  for (const json& difference : json::diff(j, written(value)))
    wrong(difference["path"].get<std::string>(), "is not what follows from the rest");
  return value;
}

// ---- the schema ------------------------------------------------------------------------------

template <class T> json schema_of(const Rule& rule = {});

/// Collects the JSON Schema of an object.
class Schema {
 public:
  template <class T> void operator()(const char* key, const T&, const Rule& rule = {}) {
    properties_[key] = schema_of<T>(rule);
    if (*rule.text) properties_[key]["description"] = rule.text;
    required_.push_back(key);
  }
  template <class T> void optional(const char* key, const T& value, const Rule& rule = {}) {
    if constexpr (IsOptional<T>::value)
      when(true, key, typename T::value_type(), rule);
    else
      when(true, key, value, rule);
  }
  template <class T> void when(bool, const char* key, const T& value, const Rule& rule = {}) {
    (*this)(key, value, rule);
    required_.erase(required_.size() - 1);
  }
  template <class F> void require(F, const std::string&) {}
  template <class T> void constant(const char* key, const T& value) {
    properties_[key] = {{"const", value}};
    required_.push_back(key);
  }
  template <class T> void derived(const char* key, const T& value, const Rule& rule = {}) {
    (*this)(key, value, rule);
  }
  template <class F> void object(const char* key, F members) {
    optional_object(key, true, members);
    required_.push_back(key);
  }
  template <class F> void optional_object(const char* key, bool, F members) {
    Schema inner;
    members(inner);
    properties_[key] = inner.take();
  }
  json take() const {
    return {{"type", "object"}, {"required", required_}, {"additionalProperties", false},
        {"properties", properties_}};
  }

 private:
  json properties_ = json::object(), required_ = json::array();
};

inline json schema_of_text(const Rule& rule) {
  if (!rule.words.empty()) return {{"enum", rule.words}};
  json j = {{"type", "string"}};
  if (rule.filled) j["minLength"] = 1;
  if (*rule.pattern) j["pattern"] = rule.pattern;
  if (rule.hash) j["pattern"] = "^([0-9a-f]{64})?$";
  return j;
}

template <class... T> json schema_of_one(const std::variant<T...>*, const Rule& rule) {
  return {{"oneOf", json::array({schema_of<T>(rule)...})}};
}

template <class T> json schema_of(const Rule& rule) {
  if constexpr (std::same_as<T, json>) {
    return {{"type", "object"}};
  } else if constexpr (std::same_as<T, NumberOrWord>) {
    const json word = {{"type", "string"}, {"pattern", "^-?(nan|inf)$"}};
    return {{"oneOf", {{{"type", "number"}}, word}}};
  } else if constexpr (IsOptional<T>::value) {
    return {{"anyOf", {{{"type", "null"}}, schema_of<typename T::value_type>(rule)}}};
  } else if constexpr (IsVariant<T>::value) {
    return schema_of_one(static_cast<T*>(nullptr), rule);
  } else if constexpr (List<T>) {
    using Element = std::remove_cvref_t<std::ranges::range_reference_t<const T>>;
    json j = {{"type", "array"}, {"items", schema_of<Element>(rule)}};
    if (rule.filled) j["minItems"] = 1;
    if constexpr (IsArray<T>::value) j["minItems"] = j["maxItems"] = std::tuple_size_v<T>;
    return j;
  } else if constexpr (IsMap<T>::value) {
    using Element = std::remove_cvref_t<decltype(std::declval<const T&>().begin()->second)>;
    return {{"type", "object"}, {"additionalProperties", schema_of<Element>(rule)}};
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::same_as<T, u64>) {
    return {{"type", "integer"}, {"minimum", 0}};
  } else if constexpr (std::integral<T>) {
    return {{"type", "integer"}, {"minimum", rule.min}, {"maximum", rule.max}};
  } else if constexpr (std::floating_point<T>) {
    return {{"type", "number"}};
  } else if constexpr (Text<T>) {
    return schema_of_text(rule);
  } else {
    Schema s;
    T example{};
    fields(s, example);
    return s.take();
  }
}

/// The JSON Schema of a document.
template <class T> std::string schema(const char* title) {
  json j = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  j.update(schema_of<T>());
  return j.dump(1) + "\n";
}

/// A document as text: stable order, ASCII, whatever bytes are in it.
inline std::string text_of(const json& j) {
  return j.dump(1, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::judge::form
