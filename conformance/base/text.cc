#include "conformance/base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/utf8.h"

namespace lockstep::judge {
namespace {

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;
};

constexpr std::uint32_t kReplacement = 0xfffd;

// The first code point of a text; for a byte that is not UTF-8, a replacement character.
CodePoint first_of(string_view text) {
  const std::size_t bytes = utf8_character(text);
  if (bytes == 0) return {kReplacement, 1};
  const auto lead = static_cast<unsigned char>(text[0]);
  std::uint32_t value = bytes == 1 ? lead : lead & (0xffU >> (bytes + 1));
  for (const char c : text.substr(1, bytes - 1))
    value = value << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return {value, bytes};
}

// Characters that HTML or XML forbids, or that change the order in which text is displayed.
bool unfit(std::uint32_t c) {
  const bool control = (c < 32 && c != '\n' && c != '\t') || (c >= 127 && c < 160);
  const bool turning = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
      (c >= 0x2066 && c <= 0x2069);
  return control || turning || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

// The text with its unfit characters replaced.
std::string fit(string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    if (c.value == kReplacement || unfit(c.value))
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::size_t longest_run(string_view text, char of) {
  std::size_t longest = 0, now = 0;
  for (char c : text) {
    now = c == of ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

}  // namespace

std::string markup(string_view text) {
  std::string out;
  for (char c : fit(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\n': out += "&#10;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string code_span(string_view text) {
  std::string inner;
  for (char c : fit(text)) {
    // A bar ends a table's cell even inside a code span.
    if (c == '|') inner += '\\';
    inner += c == '\n' || c == '\t' ? ' ' : c;
  }
  const std::string fence(longest_run(inner, '`') + 1, '`');
  const bool apart = inner.empty() || inner.front() == '`' || inner.back() == '`' ||
      (inner.front() == ' ' && inner.back() == ' ');
  const char* space = apart ? " " : "";
  return fence + space + inner + space + fence;
}

std::string code_block(string_view lines) {
  const std::string inner = fit(lines);
  const std::string fence(std::max<std::size_t>(3, longest_run(inner, '`') + 1), '`');
  return fence + "text\n" + inner + (inner.ends_with("\n") ? "" : "\n") + fence + "\n";
}

bool glob(string_view pattern, string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return glob(pattern.substr(1), text) || (!text.empty() && glob(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
      glob(pattern.substr(1), text.substr(1));
}

std::string progress_text(
    const std::string& what, i64 done, i64 all, i64 failed, const Pace& lately, const char* unit) {
  std::string s = fmt::format("{}: {} of {} {}, {} failed", what, done, all, unit, failed);
  if (done == all || lately.done == 0 || lately.seconds <= 0) return s;
  const double rate = static_cast<double>(lately.done) / lately.seconds;
  return s + fmt::format(", {:.0f}/s, {:.0f} s left", rate, static_cast<double>(all - done) / rate);
}

}  // namespace lockstep::judge
