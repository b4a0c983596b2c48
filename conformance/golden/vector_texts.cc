// Candidates about text: spellings of attributes and numbers, legal ones and ones to refuse.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/golden/vector_cases.h"
#include "conformance/golden/vectors.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

using Texts = std::vector<std::string>;

// Makes candidates from a legal call of one operator.
struct Maker {
  const OpInfo& op;
  VectorCall base = example_call(op, 0);
  std::vector<VectorCandidate> all{};

  void add(const std::string& comment, std::vector<std::string> flags, VectorCall call,
      const std::string& label = {}) {
    all.push_back({comment, std::move(flags), std::move(call), label, false});
  }
  VectorCall with(string_view key, const std::string& text) const {
    VectorCall c = base;
    c.attrs[std::string(key)] = text;
    return c;
  }
  void refuse(const std::string& word, string_view key, const std::string& text) {
    add("attr." + word + ": " + std::string(key) + " = '" + text + "'", {"REJECT"}, with(key, text),
        "attr." + word);
  }
};

// The text of an attribute in the base call.
std::string base_text(const Maker& m, const AttrInfo& f) {
  const auto at = m.base.attrs.find(std::string(f.name));
  return at == m.base.attrs.end() ? attribute_text(f, f.fallback) : at->second;
}

// Other legal spellings of the same value.
Texts spellings(const AttrInfo& f, const std::string& text) {
  switch (f.kind) {
    case AttrKind::integer:
      return {" " + text + "\t", text[0] == '-' ? "-00" + text.substr(1) : "+0" + text};
    case AttrKind::optional_integer:
      if (text == "None") return {" None\t"};
      return {"\t" + text + " "};
    case AttrKind::boolean:
      if (text == "true") return {"True", "TRUE", "1", " tRuE "};
      return {"False", "FALSE", "0", "\tfAlSe"};
    case AttrKind::word: return {" " + text + "\t"};
    case AttrKind::tuple: break;
  }
  const std::string inner = text.substr(1, text.size() - 2);
  if (inner.empty()) return {"[]", " ( ) ", "[\t]"};
  std::string spaced, longs;
  for (char c : inner) spaced += c == ',' ? std::string(" ,\t") : std::string(1, c);
  for (char c : inner) longs += c == ',' ? std::string("L,") : std::string(1, c);
  Texts all = {"[" + inner + "]", " ( " + spaced + " ) ", "(" + longs + "L,)", "[" + inner + ",]"};
  if (inner.find(',') != std::string::npos) return all;
  all.push_back(inner + "L");
  if (inner[0] != '-') all.push_back("+" + inner);
  return all;
}

// Texts that spell no value of the attribute's kind.
Texts not_values(const AttrInfo& f, const std::string& text) {
  switch (f.kind) {
    case AttrKind::integer:
      return {"", "(" + text + ")", text + "L", text + " " + text, "1.0", text + "\n"};
    case AttrKind::optional_integer: return {"none", "", "(0)", "0L"};
    case AttrKind::boolean: return {"", "yes", "2"};
    case AttrKind::tuple:
      return {"", "(1,2", "(1,2]", "1,2", "(1,,2)", "(1 2)", "(,)", "(1 L)", "(1LL)", "(1\n)"};
    case AttrKind::word: break;
  }
  return {};
}

std::string tuple_text(i64 entries, i64 value) {
  std::string s;
  for (i64 i = 0; i < entries; ++i) s += (i ? "," : "") + std::to_string(value);
  return "(" + s + ")";
}

// Texts of values beside the legal range.
Texts outside(const AttrInfo& f) {
  if (f.kind == AttrKind::word) return {"", "no_such_word"};
  if (f.kind == AttrKind::boolean) {
    if (f.range.min == 1) return {"false"};
    return f.range.max == 0 ? Texts{"true"} : Texts{};
  }
  Texts numbers;
  if (f.range.max < INT64_MAX) numbers.push_back(std::to_string(f.range.max + 1));
  if (f.range.min > INT64_MIN) numbers.push_back(std::to_string(f.range.min - 1));
  for (const char* beyond : {"9223372036854775808", "-9223372036854775809"})
    numbers.emplace_back(beyond);
  if (f.kind != AttrKind::tuple) return numbers;
  Texts all;
  for (const std::string& n : numbers) {
    const i64 entries = max(1, f.entries.min);
    std::string s = tuple_text(entries - 1, f.range.max < INT64_MAX ? f.range.max : 0);
    s.insert(s.size() - 1, (entries > 1 ? "," : "") + n);
    all.push_back(s);
  }
  return all;
}

void spell(Maker& m, const AttrInfo& f) {
  const std::string text = base_text(m, f), name(f.name);
  for (const std::string& other : spellings(f, text))
    m.add(fmt::format("{} spelled '{}'", name, other), {"ATTRIBUTE_TEXT"}, m.with(f.name, other));
  if (f.alias.empty()) return;
  VectorCall c = m.base;
  c.attrs.erase(name);
  c.attrs[std::string(f.alias)] = text;
  m.add(name + " under its other name " + std::string(f.alias), {"ALIAS"}, c);
  VectorCall both = m.with(f.name, text);
  both.attrs[std::string(f.alias)] = text;
  m.add("attr.twice: " + name + " and " + std::string(f.alias), {"REJECT"}, both, "attr.twice");
}

void refuse(Maker& m, const AttrInfo& f) {
  if (f.required) {
    VectorCall c = m.base;
    c.attrs.erase(std::string(f.name));
    m.add("attr.missing: " + std::string(f.name), {"REJECT"}, c, "attr.missing");
  }
  for (const std::string& text : not_values(f, base_text(m, f))) m.refuse("syntax", f.name, text);
  if (f.kind == AttrKind::tuple) {
    if (f.entries.min > 0) m.refuse("length", f.name, tuple_text(f.entries.min - 1, f.range.max));
    m.refuse("length", f.name, tuple_text(f.entries.max + 1, clamp(1, f.range.min, f.range.max)));
  }
  for (const std::string& text : outside(f)) m.refuse("range", f.name, text);
}

void unknown_keys(Maker& m) {
  m.add("attr.unknown: no such attribute", {"REJECT"}, m.with("no_such_attribute", "1"),
      "attr.unknown");
  m.add("attr.unknown: '____' is too short to be ignored", {"REJECT"}, m.with("____", "1"),
      "attr.unknown");
  if (m.op.attrs.size() > 0) {
    m.add("a key between double underscores is ignored", {"ATTRIBUTE_TEXT"},
        m.with("__anything__", "(("));
  } else {
    m.add("attr.unknown: an operator without attributes ignores no key", {"REJECT"},
        m.with("__anything__", "(("), "attr.unknown");
  }
}

void values(Maker& m) {
  for (std::size_t k = 0; k < m.base.in.size(); ++k) {
    const i64 a = max_of(static_cast<int>(m.base.in_prec[k]));
    for (i64 v : {a + 1, -a - 1, i64{1} << 31, INT64_MIN + 1}) {
      VectorCall c = m.base;
      c.in[k].data->back() = v;
      const std::string comment =
          "input.value: " + std::to_string(v) + " in input " + std::to_string(k);
      if (std::none_of(m.all.begin(), m.all.end(),
              [&](const VectorCandidate& o) { return o.comment == comment; }))
        m.add(comment, {"REJECT"}, c, "input.value");
    }
  }
}

// The parts in which a candidate differs from the base call: attributes and inputs.
std::set<std::string> changes(const VectorCall& base, const VectorCall& c) {
  std::set<std::string> all;
  for (const auto* m : {&base.attrs, &c.attrs})
    for (const auto& [key, text] : *m) {
      const auto a = base.attrs.find(key), b = c.attrs.find(key);
      if (a == base.attrs.end() || b == c.attrs.end() || a->second != b->second) all.insert(key);
    }
  if (c.in.size() != base.in.size() ||
      call_text({{}, c.in_prec, c.in}) != call_text({{}, base.in_prec, base.in}))
    all.insert("in=");  // no key of an attribute
  return all;
}

// The base call with the changes of two candidates, which concern different parts of it.
VectorCall with_both(const VectorCall& base, const VectorCall& a, const VectorCall& b) {
  VectorCall c = a;
  for (const std::string& key : changes(base, b)) {
    c.attrs.erase(key);
    if (const auto at = b.attrs.find(key); at != b.attrs.end()) c.attrs.insert(*at);
    if (key == "in=") c.in_prec = b.in_prec, c.in = b.in;
  }
  return c;
}

// The place of a violation in the order of judgement: first its step, then its attribute.
std::pair<int, int> place_of(const Maker& m, const VectorCandidate& v) {
  constexpr string_view kWhole[] = {"attr.unknown", "attr.twice"};
  for (int i = 0; i < 2; ++i)
    if (v.label == kWhole[i]) return {i, 0};
  if (v.label == "op.inputs") return {3, 0};
  if (v.label == "input.value") return {4, 0};
  const std::set<std::string> changed = changes(m.base, v.call);
  int attribute = 0;
  while (!changed.contains(std::string(m.op.attrs[attribute].name))) ++attribute;
  return {2, attribute};
}

// Adds, for each violation that a reader finds, a call that also has the nearest later violation
// that can occur with it. Its label is that of the earlier one.
void order(Maker& m) {
  std::map<std::pair<std::pair<int, int>, std::string>, VectorCandidate> places;
  VectorCall none = m.base;
  none.in.clear();
  none.in_prec.clear();
  m.add("op.inputs: none", {"REJECT"}, none, "op.inputs");
  for (const VectorCandidate& v : m.all)
    if (!v.label.empty()) places.emplace(std::pair(place_of(m, v), v.label), v);
  for (auto first = places.begin(); first != places.end(); ++first)
    for (auto second = std::next(first); second != places.end(); ++second) {
      const VectorCandidate &a = first->second, &b = second->second;
      // One text of an attribute has only one violation.
      if (a.label == b.label || first->first.first == second->first.first) continue;
      const VectorCall both = with_both(m.base, a.call, b.call);
      if (derive(m.op, both).label != a.label) continue;
      m.add(a.comment + " before " + b.comment, {"ORDER", "REJECT"}, both, a.label);
      break;
    }
}

}  // namespace

std::vector<VectorCandidate> text_candidates(const OpInfo& op) {
  Maker m{op};
  for (const AttrInfo& f : op.attrs) spell(m, f);
  unknown_keys(m);
  for (const AttrInfo& f : op.attrs) refuse(m, f);
  values(m);
  order(m);
  return std::move(m.all);
}

std::vector<std::string> text_labels(const OpInfo& op) {
  const auto any = [&](auto test) { return std::any_of(op.attrs.begin(), op.attrs.end(), test); };
  std::vector<std::string> labels = {"attr.unknown"};
  if (any([](const AttrInfo& f) { return !f.alias.empty(); })) labels.push_back("attr.twice");
  if (any([](const AttrInfo& f) { return f.required; })) labels.push_back("attr.missing");
  if (any([](const AttrInfo& f) { return f.kind != AttrKind::word; }))
    labels.push_back("attr.syntax");
  if (any([](const AttrInfo& f) { return f.kind == AttrKind::tuple; }))
    labels.push_back("attr.length");
  if (any([](const AttrInfo& f) { return !outside(f).empty(); })) labels.push_back("attr.range");
  labels.push_back("input.value");
  return labels;
}

}  // namespace lockstep::judge
