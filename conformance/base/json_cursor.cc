#include "conformance/base/json_cursor.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace lockstep::judge {
namespace {

bool digit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

void JsonCursor::fail(const char* why) const {
  throw NotJson("not JSON at byte " + std::to_string(at_ + 1) + ": " + why);
}

char JsonCursor::peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c;
    ++at_;
  }
  return 0;
}

JsonCursor::Type JsonCursor::type() {
  const char c = peek();
  switch (c) {
    case '{': return Type::object;
    case '[': return Type::array;
    case '"': return Type::string;
    case 't':
    case 'f': return Type::boolean;
    case 'n': return Type::null;
    default:
      if (c == '-' || digit(c)) return Type::number;
      fail("a value is missing");
  }
}

bool JsonCursor::open(char first, char last) {
  if (peek() != first) fail(first == '{' ? "no object" : "no array");
  ++at_;
  if (peek() != last) return true;
  ++at_;
  return false;
}

bool JsonCursor::again(char last) {
  const char c = peek();
  if (c != ',' && c != last) fail(last == '}' ? "',' or '}' is missing" : "',' or ']' is missing");
  ++at_;
  return c == ',';
}

std::string JsonCursor::key() {
  if (peek() != '"') fail("a key is missing");
  std::string k = string();
  if (peek() != ':') fail("':' is missing");
  ++at_;
  return k;
}

std::string_view JsonCursor::string_text() {
  const std::size_t begin = at_++;
  plain_ = true;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    const char c = text_[at_];
    if (c >= 0x20 && c < 0x7f && c != '\\') continue;
    plain_ = false;
    if (c == '\\') ++at_;
  }
  if (at_ >= text_.size()) fail("a string does not end");
  ++at_;
  const std::string_view s = text_.substr(begin, at_ - begin);
  if (!plain_ && !nlohmann::json::accept(s)) fail("a string has an illegal character or escape");
  return s;
}

std::string JsonCursor::string() {
  if (peek() != '"') fail("no string");
  const std::string_view s = string_text();
  if (plain_) return std::string(s.substr(1, s.size() - 2));
  return nlohmann::json::parse(s).get<std::string>();
}

std::size_t JsonCursor::digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && digit(text_[at_])) ++at_;
  if (at_ == begin) fail("a number lacks a digit");
  return at_ - begin;
}

std::string_view JsonCursor::number() {
  if (type() != Type::number) fail("no number");
  const std::size_t begin = at_;
  const auto next_is = [&](char a, char b) {
    return at_ < text_.size() && (text_[at_] == a || text_[at_] == b);
  };
  if (next_is('-', '-')) ++at_;
  const bool zero = next_is('0', '0');
  if (digits() > 1 && zero) fail("a number begins with 0");
  if (next_is('.', '.')) {
    ++at_;
    digits();
  }
  if (next_is('e', 'E')) {
    ++at_;
    if (next_is('+', '-')) ++at_;
    digits();
  }
  return text_.substr(begin, at_ - begin);
}

void JsonCursor::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) fail("no value");
  at_ += word.size();
}

void JsonCursor::scalar() {
  switch (type()) {
    case Type::string: string_text(); return;
    case Type::number: number(); return;
    case Type::null: return literal("null");
    default: return literal(text_[at_] == 't' ? "true" : "false");
  }
}

std::string_view JsonCursor::skip() {
  peek();
  const std::size_t begin = at_;
  std::string open_brackets;  // as the characters that close them
  do {
    const char c = peek();
    bool inside = false;
    if (c == '{' || c == '[') {
      const char last = c == '{' ? '}' : ']';
      inside = open(c, last);
      if (inside) open_brackets.push_back(last);
    } else {
      scalar();
    }
    while (!inside && !open_brackets.empty()) {
      inside = again(open_brackets.back());
      if (!inside) open_brackets.pop_back();
    }
    if (inside && open_brackets.back() == '}') key();
  } while (!open_brackets.empty());
  return text_.substr(begin, at_ - begin);
}

void JsonCursor::end() {
  if (peek() != 0 || at_ < text_.size()) fail("something follows the value");
}

std::optional<i64> integer_of(std::string_view number) {
  i64 v = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), v);
  if (end != number.data() + number.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return number[0] == '-' ? INT64_MIN : INT64_MAX;
  return v;
}

}  // namespace lockstep::judge
