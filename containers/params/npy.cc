#include "containers/params/npy.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "spec/text.h"

namespace lockstep::params::npz {
namespace {

[[noreturn]] void malformed(std::string detail) {
  throw MalformedNpy{&reject("npy_header"), std::move(detail)};
}

/// A cursor over the text of a dictionary.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// The next character that is no blank; NUL at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char expected) {
    if (peek() != expected) return false;
    ++at_;
    return true;
  }
  void expect(char expected) {
    if (!accept(expected)) malformed("no '" + std::string(1, expected) + "' " + here());
  }
  bool at_end() {
    peek();
    return at_ == text_.size();
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed("no string " + here());
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed("a string does not end");
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    if (found.find('\\') != std::string_view::npos) malformed("a string has an escape");
    at_ = end + 1;
    return found;
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    malformed("neither True nor False " + here());
  }

  std::int64_t extent() {
    peek();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    const std::string_view digits = text_.substr(at_, end - at_);
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) malformed("no extent " + here());
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc())
      throw MalformedNpy{&params::reject("shape_overflow"), std::string(digits)};
    at_ = end;
    return value;
  }

  std::string here() const { return "at character " + std::to_string(at_); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// (), (3,) or (2, 3): one extent without a comma would be a number to Python.
std::vector<std::int64_t> parse_shape(Cursor& cursor) {
  std::vector<std::int64_t> shape;
  bool comma = true;
  cursor.expect('(');
  while (!cursor.accept(')')) {
    if (!comma) malformed("no ',' " + cursor.here());
    shape.push_back(cursor.extent());
    comma = cursor.accept(',');
  }
  if (shape.size() == 1 && !comma) malformed("the shape is a number");
  if (std::cmp_greater(shape.size(), kMaxDimensions)) {
    throw MalformedNpy{&params::reject("ndim"), "found " + std::to_string(shape.size())};
  }
  return shape;
}

/// '<i4': byte order, kind, bytes. A byte has no order, and NumPy writes '|' for it.
void parse_descr(Cursor& cursor, NpyHeader& header) {
  if (cursor.peek() == '[') throw MalformedNpy{&reject("npy_structure"), ""};
  const std::string_view descr = cursor.string();
  const std::string_view type = descr.substr(std::min<std::size_t>(descr.size(), 1));
  if (type.starts_with('O')) throw MalformedNpy{&reject("npy_object"), ""};
  if (type.starts_with('V')) throw MalformedNpy{&reject("npy_structure"), ""};
  for (const auto& [dtype, name] : kDTypes) {
    const std::string wanted = {"iuf"[dtype.code], static_cast<char>('0' + dtype.bytes())};
    if (type != wanted) continue;
    const bool order = descr[0] == '<' || descr[0] == '>' || (descr[0] == '|' && dtype.bits == 8);
    if (!order) break;
    header.dtype = dtype;
    header.big_endian = descr[0] == '>';
    return;
  }
  throw MalformedNpy{&reject("npy_dtype"), "found \"" + printable(descr) + "\""};
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  Cursor cursor(text);
  NpyHeader header;
  std::vector<std::string_view> seen;
  bool comma = true;
  cursor.expect('{');
  while (!cursor.accept('}')) {
    if (!comma) malformed("no ',' " + cursor.here());
    const std::string_view key = cursor.string();
    if (std::ranges::find(seen, key) != seen.end()) malformed("a key occurs twice");
    seen.push_back(key);
    cursor.expect(':');
    if (key == "descr") {
      parse_descr(cursor, header);
    } else if (key == "fortran_order") {
      header.fortran_order = cursor.boolean();
    } else if (key == "shape") {
      header.shape = parse_shape(cursor);
    } else {
      malformed("\"" + printable(key) + "\" is no key");
    }
    comma = cursor.accept(',');
  }
  if (seen.size() != 3) malformed("a key is missing");
  if (!cursor.at_end()) malformed("something follows the dictionary");
  return header;
}

std::string npy_header(DType dtype, std::span<const std::int64_t> shape) {
  constexpr std::size_t kAlignment = 64;
  // Room that lets the first extent grow to any int64 in place.
  constexpr std::size_t kGrowth = 21;
  std::string text = "{'descr': '";
  text += dtype.bits == 8 ? '|' : '<';
  text += "iuf"[dtype.code];
  text += static_cast<char>('0' + dtype.bytes());
  text += "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  if (!shape.empty()) text.append(kGrowth - std::to_string(shape[0]).size(), ' ');
  const std::size_t start = kNpyStart + sizeof(std::uint16_t);
  const std::size_t used = start + text.size() + 1;
  text.append(kAlignment - used % kAlignment, ' ') += '\n';
  std::string header(kNpyMagic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace lockstep::params::npz
