#include "reference/graph/json.h"

#include <algorithm>
#include <utility>

#include "containers/params/params.h"
#include "reference/graph/error.h"

namespace lockstep::graph {
namespace {

[[noreturn]] void refuse(const char* label, const Place& place, const std::string& why) {
  const std::string path = place.text();
  throw Error(label, (path.empty() ? "the document" : path) + " " + why, path);
}

[[noreturn]] void wrong_form(const Place& place, const std::string& expected) {
  refuse("model.key", place, "is not " + expected);
}

// Builds a value as a parser reports its parts. The library's own builder keeps the last of two
// equal keys and nests without limit; its hook for both takes quadratic time.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const Place& place) : place_(place) {}

  Document take() && { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(number_integer_t v) override { return add(v); }
  bool number_unsigned(number_unsigned_t v) override { return add(v); }
  bool number_float(number_float_t v, const string_t&) override { return add(v); }
  bool string(string_t& v) override { return add(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& v) override {
    if (open_.back()->contains(v))
      refuse("model.json", place_, "has the key \"" + params::printable(v) + "\" twice");
    key_ = std::move(v);
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const Json::exception&) override {
    refuse("model.json", place_, "is not JSON at byte " + std::to_string(byte));
  }

 private:
  Json* put(Json value) {
    if (open_.empty()) return &(*root_ = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  bool open(Json empty) {
    if (open_.size() == kMaxDepth)
      refuse("model.json", place_,
          "nests more than " + std::to_string(kMaxDepth) + " objects and arrays");
    // The pointer stays valid until the value is closed: its parent grows only after that.
    open_.push_back(put(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const Place& place_;
  Document root_;
  std::string key_;
  std::vector<Json*> open_;
};

// What is inside goes first, and a container without contents is destroyed without memory. The
// builder limits how deep this recurses.
void take_apart(Json& value) noexcept {
  if (!value.is_structured()) return;
  for (Json& inner : value) take_apart(inner);
  value.clear();
}

}  // namespace

Document::~Document() { take_apart(root_); }

std::string Place::text() const {
  if (!parent) return std::string(key);
  const std::string before = parent->text();
  if (index >= 0) return before + "[" + std::to_string(index) + "]";
  return before + (before.empty() ? "" : ".") + params::printable(key);
}

Document parse_object(std::string_view text, const Place& place) {
  // The library ends the text at a NUL and skips a byte order mark; this reader refuses both.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    refuse("model.json", place, "is not JSON at byte " + std::to_string(nul + 1));
  if (text.starts_with("\xEF\xBB\xBF")) refuse("model.json", place, "is not JSON at byte 1");
  Builder builder(place);
  Json::sax_parse(text.begin(), text.end(), &builder);
  Document document = std::move(builder).take();
  if (!(*document).is_object()) refuse("model.json", place, "is not a JSON object");
  return document;
}

const Json& as_object(const Json& value, const Place& place, std::initializer_list<Key> keys) {
  if (!value.is_object()) wrong_form(place, "an object");
  for (const auto& [key, ignored] : value.items()) {
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&k = key](const Key& key) { return key.name == k; });
    if (!known) refuse("model.key", place, "has an unknown key \"" + params::printable(key) + "\"");
  }
  for (const Key& key : keys)
    if (key.required && !value.contains(key.name))
      refuse("model.key", place.at(key.name), "is missing");
  return value;
}

const Json& as_array(const Json& value, const Place& place) {
  if (!value.is_array()) wrong_form(place, "an array");
  return value;
}

const std::string& as_text(const Json& value, const Place& place) {
  if (!value.is_string()) wrong_form(place, "a string");
  return value.get_ref<const std::string&>();
}

i64 as_integer(const Json& value, const Place& place) {
  const bool beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (!value.is_number_integer() || beyond) wrong_form(place, "an integer of 64 bits");
  return value.get<i64>();
}

const Json& as_list(const Json& value, const Place& place, std::string_view form) {
  const bool named =
      value.is_array() && value.size() == 2 && value[0].is_string() && value[0] == form;
  if (!named) wrong_form(place, "[\"" + std::string(form) + "\", [...]]");
  return as_array(value[1], place.at(1));
}

std::vector<i64> as_integers(const Json& array, const Place& place) {
  std::vector<i64> list;
  for (const Json& v : as_array(array, place))
    list.push_back(as_integer(v, place.at(static_cast<i64>(list.size()))));
  return list;
}

}  // namespace lockstep::graph
