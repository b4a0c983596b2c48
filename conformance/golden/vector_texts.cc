// Candidates about text: how attributes and numbers are written, what readers must refuse.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/golden/vector_cases.h"
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
    case Kind::integer:
      return {" " + text + "\t", text[0] == '-' ? "-00" + text.substr(1) : "+0" + text};
    case Kind::optional_integer:
      if (text == "None") return {" None\t"};
      return {"\t" + text + " "};
    case Kind::boolean:
      if (text == "true") return {"True", "TRUE", "1", " tRuE "};
      return {"False", "FALSE", "0", "\tfAlSe"};
    case Kind::word:
      return {" " + text + "\t"};
    case Kind::tuple:
      break;
  }
  const std::string inner = text.substr(1, text.size() - 2);
  if (inner.empty()) return {"[]", " ( ) ", "[\t]"};
  std::string spaced, longs;
  for (char c : inner) spaced += c == ',' ? std::string(" ,\t") : std::string(1, c);
  for (char c : inner) longs += c == ',' ? std::string("L,") : std::string(1, c);
  Texts all = {"[" + inner + "]", " ( " + spaced + " ) ", "(" + longs + "L,)", "[" + inner + ",]"};
  if (inner.find(',') == std::string::npos) all.push_back(inner + "L");
  return all;
}

// Texts that are no value of the kind.
Texts not_values(const AttrInfo& f, const std::string& text) {
  switch (f.kind) {
    case Kind::integer:
      return {"", "(" + text + ")", text + "L", text + " " + text, "1.0"};
    case Kind::optional_integer:
      return {"none", "", "(0)", "0L"};
    case Kind::boolean:
      return {"", "yes", "2"};
    case Kind::tuple:
      return {"", "(1,2", "(1,2]", "1,2", "(1,,2)", "(1 2)", "(,)", "(1 L)", "(1LL)"};
    case Kind::word:
      break;
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
  if (f.kind == Kind::word) return {"", "no_such_word"};
  if (f.kind == Kind::boolean) {
    if (f.range.min == 1) return {"false"};
    return f.range.max == 0 ? Texts{"true"} : Texts{};
  }
  Texts numbers;
  if (f.range.max < INT64_MAX) numbers.push_back(std::to_string(f.range.max + 1));
  if (f.range.min > INT64_MIN) numbers.push_back(std::to_string(f.range.min - 1));
  for (const char* beyond : {"9223372036854775808", "-9223372036854775809"})
    numbers.emplace_back(beyond);
  if (f.kind != Kind::tuple) return numbers;
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
  if (f.kind == Kind::tuple) {
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

// Two violations each; the earlier step names the error.
void order(Maker& m) {
  const std::vector<std::string> flags = {"ORDER", "REJECT"};
  VectorCall c = m.with("no_such_attribute", "1");
  c.in.clear();
  c.in_prec.clear();
  m.add("an unknown attribute before the input count", flags, c, "attr.unknown");
  for (const AttrInfo& f : m.op.attrs) {
    if (not_values(f, base_text(m, f)).empty()) continue;
    c = m.with(f.name, not_values(f, base_text(m, f))[0]);
    c.attrs["zzz"] = "";
    m.add("an unknown attribute before the syntax of " + std::string(f.name), flags, c,
          "attr.unknown");
    c.attrs.erase("zzz");
    c.in_prec[0] = 33;
    m.add("the syntax of " + std::string(f.name) + " before a precision", flags, c, "attr.syntax");
  }
  c = m.base;
  c.in_prec[0] = 0;
  m.add("a precision before the values", flags, c, "input.precision");
  c.in[0].shape.assign(7, 1);
  c.in[0].data.reset();
  m.add("a rank before the precision", flags, c, "input.rank");
  c.in[0].shape.clear();
  const bool variadic = m.op.inputs[m.op.inputs.size() - 1].arity == Arity::variadic;
  const std::size_t count = variadic ? kMaxInputs + 1 : 5;
  c.in.resize(count, c.in[0]);
  c.in_prec.resize(count, 0);
  m.add("the input count before a rank", flags, c, "op.inputs");
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
  if (any([](const AttrInfo& f) { return f.kind != Kind::word; })) labels.push_back("attr.syntax");
  if (any([](const AttrInfo& f) { return f.kind == Kind::tuple; })) labels.push_back("attr.length");
  if (any([](const AttrInfo& f) { return !outside(f).empty(); })) labels.push_back("attr.range");
  labels.push_back("input.value");
  return labels;
}

}  // namespace lockstep::judge
