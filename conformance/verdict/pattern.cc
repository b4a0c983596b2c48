#include "conformance/verdict/pattern.h"

#include <algorithm>
#include <bit>
#include <cctype>

namespace lockstep::judge {
namespace {

i64 clamped(i64 v, i64 bits) {
  const i64 most = (i64{1} << (bits - 1)) - 1;
  return std::clamp(v, -most - 1, most);
}

i64 wrapped(i64 v, int bits) {
  const i64 modulus = i64{1} << bits, r = ((v % modulus) + modulus) % modulus;
  return r >= modulus / 2 ? r - modulus : r;
}

// Rounds to `bits` significant bits, ties to even, as floating-point types do.
i64 rounded(i64 v, int bits) {
  const auto magnitude = static_cast<u64>(v < 0 ? -v : v);
  const int drop = static_cast<int>(std::bit_width(magnitude)) - bits;
  if (drop <= 0) return v;
  const u64 half = u64{1} << (drop - 1), rest = magnitude & (2 * half - 1);
  u64 kept = magnitude >> drop;
  kept += rest > half || (rest == half && (kept & 1) != 0);
  const auto back = static_cast<i64>(kept << drop);
  return v < 0 ? -back : back;
}

constexpr Relation kRelations[] = {
    {"off by one", [](i64 want, i64 got) { return got == want + 1 || got == want - 1; }},
    {"0 instead of a value", [](i64, i64 got) { return got == 0; }},
    {"the sign is wrong", [](i64 want, i64 got) { return got == -want; }},
    {"kept in 8 bits", [](i64 want, i64 got) { return got == wrapped(want, 8); }, true},
    {"clamped to 8 bits", [](i64 want, i64 got) { return got == clamped(want, 8); }, true},
    {"kept in 16 bits", [](i64 want, i64 got) { return got == wrapped(want, 16); }, true},
    {"clamped to 16 bits", [](i64 want, i64 got) { return got == clamped(want, 16); }, true},
    {"rounded as bfloat16", [](i64 want, i64 got) { return got == rounded(want, 8); }, true},
    {"rounded as float16", [](i64 want, i64 got) { return got == rounded(want, 11); }, true},
    {"rounded as float32", [](i64 want, i64 got) { return got == rounded(want, 24); }, true},
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The text with '' for each part in quotes. An apostrophe within a word is no quote.
std::string without_quotes(const std::string& text) {
  std::string s;
  const auto quotes = [&](std::size_t at, std::size_t beside) {
    return text[at] == '\'' && (beside >= text.size() || !is_word(text[beside]));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    s += text[at];
    if (!quotes(at, at - 1)) continue;
    std::size_t end = at + 1;
    while (end < text.size() && !quotes(end, end + 1)) ++end;
    if (end == text.size()) continue;
    s += text[at = end];
  }
  return s;
}

// The end of the number at a place of a text: decimal, or hexadecimal after 0x.
std::size_t end_of_number(const std::string& text, std::size_t at) {
  const bool hex = text.compare(at, 2, "0x") == 0;
  if (hex) at += 2;
  while (at < text.size() &&
      (is_digit(text[at]) || (hex && std::isxdigit(static_cast<unsigned char>(text[at])) != 0)))
    ++at;
  return at;
}

}  // namespace

std::span<const Relation> relations() { return kRelations; }

bool holds(const Relation& r, const std::vector<Element>& elements) {
  return !elements.empty() && std::all_of(elements.begin(), elements.end(), [&](const Element& e) {
    return r.holds(e.expected, e.got);
  });
}

const Relation* relation_of(const std::string& words) {
  for (const Relation& r : kRelations)
    if (words == r.words) return &r;
  return nullptr;
}

std::string without_details(const std::string& whole) {
  const std::string text = without_quotes(whole);
  std::string s;
  for (std::size_t at = 0; at < text.size();) {
    // A digit within a word, as in int8 or SIGUSR1, is part of a name.
    const bool in_word = at > 0 && is_word(text[at - 1]) && !s.ends_with("#x");
    if (!is_digit(text[at]) || in_word) {
      s += text[at++];
      continue;
    }
    at = end_of_number(text, at);
    if (s.ends_with('-')) s.pop_back();
    if (s.ends_with("#,") || s.ends_with("#x"))
      s.pop_back();
    else
      s += '#';
    // A shape of one axis is written (3,).
    if (text.compare(at, 2, ",)") == 0) ++at;
  }
  return s;
}

}  // namespace lockstep::judge
