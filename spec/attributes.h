/// @file
/// Attributes as text: the grammar of values, and step 2 of the order of judgement.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "spec/info.h"

namespace lockstep {

/// A value read from text, or the name of the violated rule: "syntax", "length" or "range".
struct ParsedAttr {
  Attr value;
  string_view broken;
};

namespace detail {

constexpr bool blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool digit(char c) { return '0' <= c && c <= '9'; }
constexpr string_view trim(string_view s) {
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

/// Reads [+-]?[0-9]+ from the front of s. A value beyond int64 is read whole and marked.
struct Integer {
  bool read = false, beyond = false;
  i64 value = 0;
};
constexpr Integer take_integer(string_view& s) {
  std::size_t i = 0;
  const bool minus = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) ++i;
  Integer n;
  for (; i < s.size() && digit(s[i]); ++i) {
    n.read = true;
    const i64 d = s[i] - '0';
    // Accumulate a negative number, because INT64_MIN has no positive counterpart.
    if (n.value < (INT64_MIN + d) / 10)
      n.beyond = true;
    else
      n.value = n.value * 10 - d;
  }
  if (n.read && !minus) {
    if (n.value == INT64_MIN)
      n.beyond = true;
    else
      n.value = -n.value;
  }
  if (n.read) s.remove_prefix(i);
  return n;
}

constexpr ParsedAttr parse_integer(const AttrInfo& f, string_view s) {
  const Integer n = take_integer(s);
  if (!n.read || !s.empty()) return {{}, "syntax"};
  if (n.beyond || !f.range.contains(n.value)) return {{}, "range"};
  return {{f.kind, false, {n.value}}, {}};
}

constexpr bool same_word(string_view s, string_view lower) {
  if (s.size() != lower.size()) return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = 'A' <= s[i] && s[i] <= 'Z' ? static_cast<char>(s[i] - 'A' + 'a') : s[i];
    if (c != lower[i]) return false;
  }
  return true;
}

constexpr ParsedAttr parse_boolean(const AttrInfo& f, string_view s) {
  const bool yes = same_word(s, "true") || s == "1", no = same_word(s, "false") || s == "0";
  if (!yes && !no) return {{}, "syntax"};
  if (!f.range.contains(yes)) return {{}, "range"};
  return {{AttrKind::boolean, false, {yes}}, {}};
}

/// int | ( [int {, int} [,]] ) | [ the same ]; one L may follow an int's last digit.
constexpr ParsedAttr parse_tuple(const AttrInfo& f, string_view s) {
  const bool round = !s.empty() && s.front() == '(', square = !s.empty() && s.front() == '[';
  Tuple t;
  bool beyond = false;
  const auto entry = [&] {
    const Integer n = take_integer(s);
    if (!n.read) return false;
    if (!s.empty() && s.front() == 'L') s.remove_prefix(1);
    beyond = beyond || n.beyond || !f.range.contains(n.value);
    t.push(n.value);
    return true;
  };
  if (!round && !square) {
    if (!entry() || !s.empty()) return {{}, "syntax"};
  } else {
    if (s.size() < 2 || s.back() != (round ? ')' : ']')) return {{}, "syntax"};
    s = trim(s.substr(1, s.size() - 2));
    while (!s.empty()) {
      if (!entry()) return {{}, "syntax"};
      s = trim(s);
      if (s.empty()) break;
      if (s.front() != ',') return {{}, "syntax"};
      s = trim(s.substr(1));
    }
  }
  if (!t.fits() || !f.entries.contains(t.size)) return {{}, "length"};
  if (beyond) return {{}, "range"};
  return {{AttrKind::tuple, false, t}, {}};
}

constexpr ParsedAttr parse_word(const AttrInfo& f, string_view s) {
  string_view rest = f.words;
  for (i64 choice = 0;; ++choice) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == s) return {{AttrKind::word, false, {choice}}, {}};
    if (bar == string_view::npos) return {{}, "range"};
    rest.remove_prefix(bar + 1);
  }
}

}  // namespace detail

/// Reads the text of one attribute.
constexpr ParsedAttr parse_attribute(const AttrInfo& f, string_view text) {
  const string_view s = detail::trim(text);
  switch (f.kind) {
    case AttrKind::integer: return detail::parse_integer(f, s);
    case AttrKind::boolean: return detail::parse_boolean(f, s);
    case AttrKind::tuple: return detail::parse_tuple(f, s);
    case AttrKind::optional_integer:
      return s == "None" ? ParsedAttr{{f.kind, true, {}}, {}} : detail::parse_integer(f, s);
    case AttrKind::word: return detail::parse_word(f, s);
  }
  return {{}, "syntax"};
}

/// The spelling of a word attribute's choice.
constexpr string_view word_of(const AttrInfo& f, i64 choice) {
  string_view rest = f.words;
  for (; choice > 0; --choice) rest.remove_prefix(rest.find('|') + 1);
  return rest.substr(0, rest.find('|'));
}

/// The canonical text of a value, which parse_attribute reads back as the same value.
inline std::string attribute_text(const AttrInfo& f, const Attr& v) {
  switch (f.kind) {
    case AttrKind::boolean: return v.ints[0] ? "true" : "false";
    case AttrKind::word: return std::string(word_of(f, v.ints[0]));
    case AttrKind::optional_integer:
      if (v.none) return "None";
      [[fallthrough]];
    case AttrKind::integer: return std::to_string(v.ints[0]);
    case AttrKind::tuple: break;
  }
  std::string s = "(";
  for (i64 e : v.ints) s += (s.size() > 1 ? "," : "") + std::to_string(e);
  return s + ")";
}

/// All attributes of a call, in table order, or the label `attr.*` of the first violation with its
/// sentence.
struct ReadAttributes {
  std::vector<Attr> values;
  std::string label, message;
};

/// Step 2: unknown keys, names given twice, then every attribute in table order.
/// @param given key and text pairs; keys are canonical names or aliases.
inline ReadAttributes read_attributes(
    const OpInfo& op, const std::vector<std::pair<std::string, std::string>>& given) {
  const auto refuse = [&](string_view word, string_view key, string_view why) {
    return ReadAttributes{{}, "attr." + std::string(word),
        std::string(op.name) + ": attribute '" + std::string(key) + "' " + std::string(why)};
  };
  const auto find = [&](const AttrInfo& f) {
    std::vector<const std::string*> texts;
    for (const auto& [key, text] : given)
      if (key == f.name || (!f.alias.empty() && key == f.alias)) texts.push_back(&text);
    return texts;
  };
  // Keys like __shape__ are annotations; an operator without attributes accepts none of them.
  const auto hidden = [&op](const std::string& k) {
    return op.attrs.size() > 0 && k.size() > 4 && k.starts_with("__") && k.ends_with("__");
  };
  const std::string* unknown = nullptr;
  for (const auto& [key, text] : given) {
    const bool known = std::any_of(op.attrs.begin(), op.attrs.end(), [&k = key](const AttrInfo& f) {
      return k == f.name || (!f.alias.empty() && k == f.alias);
    });
    if (!known && !hidden(key) && (!unknown || key < *unknown)) unknown = &key;
  }
  if (unknown) return refuse("unknown", *unknown, "is not an attribute of this operator");
  for (const AttrInfo& f : op.attrs)
    if (find(f).size() > 1) return refuse("twice", f.name, "is given more than once");
  ReadAttributes r;
  for (const AttrInfo& f : op.attrs) {
    const auto texts = find(f);
    if (texts.empty()) {
      if (f.required) return refuse("missing", f.name, "is required");
      r.values.push_back(f.fallback);
      continue;
    }
    const ParsedAttr p = parse_attribute(f, *texts[0]);
    if (!p.broken.empty())
      return refuse(p.broken, f.name,
          "has an illegal value '" + *texts[0] + "' (" + std::string(p.broken) + ")");
    r.values.push_back(p.value);
  }
  return r;
}

}  // namespace lockstep
