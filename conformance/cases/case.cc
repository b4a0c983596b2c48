#include "conformance/cases/case.h"

#include <algorithm>
#include <charconv>

#include "conformance/cases/fill.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

constexpr string_view kFillNames[] = {"zero", "one", "minus_one", "max", "min", "alternating",
    "one_hot", "sparse", "dense", "boundary", "critical", "hinted", "range", "edges", "literal",
    "constant"};
constexpr string_view kLayoutNames[] = {
    "compact", "padded", "offset", "permuted", "scattered", "scattered_in", "scattered_out"};
static_assert(std::size(kFillNames) == kFills + 2 && std::size(kLayoutNames) == kLayouts);

std::vector<string_view> split(string_view s, char by) {
  std::vector<string_view> parts;
  for (;;) {
    const std::size_t at = s.find(by);
    parts.push_back(s.substr(0, at));
    if (at == string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

template <class T> T number(string_view s, const std::string& where) {
  T v{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size())
    throw UsageError("case id: '" + std::string(s) + "' is no integer in " + where);
  return v;
}

// Tuples without brackets, so that an id needs no quoting in a shell.
std::string bare(const AttrInfo& f, const Attr& v) {
  std::string s = attribute_text(f, v);
  return v.kind == AttrKind::tuple ? s.substr(1, s.size() - 2) : s;
}

Attr attribute(const OpInfo& op, const AttrInfo& f, string_view text) {
  if (f.kind == AttrKind::word) {
    for (i64 c = 0; c <= f.range.max; ++c)
      if (word_of(f, c) == text) return {AttrKind::word, false, {c}};
    throw UsageError("case id: " + std::string(f.name) + "=" + std::string(text) + " of " +
        std::string(op.name) + " is no word it knows");
  }
  // An id may spell an illegal call, so any value is read here and checked later.
  AttrInfo any = f;
  any.range = kAnyInt64;
  any.entries = {0, INT64_MAX};
  const ParsedAttr p = parse_attribute(
      any, f.kind == AttrKind::tuple ? "(" + std::string(text) + ")" : std::string(text));
  if (!p.broken.empty())
    throw UsageError("case id: " + std::string(f.name) + "=" + std::string(text) + " of " +
        std::string(op.name) + " has an illegal value");
  return p.value;
}

std::vector<Type> types(string_view text) {
  std::vector<Type> in;
  if (text.empty()) return in;
  for (string_view part : split(text, '+')) {
    const auto pieces = split(part, '@');
    if (pieces.size() != 2)
      throw UsageError("case id: '" + std::string(part) + "' is no shape@precision in in=");
    Type t;
    if (!pieces[0].empty())
      for (string_view e : split(pieces[0], 'x')) t.shape.push(number<i64>(e, "a shape"));
    t.precision = number<int>(pieces[1], "a precision");
    in.push_back(t);
  }
  return in;
}

std::vector<std::vector<i64>> values(string_view text) {
  std::vector<std::vector<i64>> data;
  for (string_view part : split(text, '+')) {
    data.emplace_back();
    if (part.empty()) continue;
    for (string_view v : split(part, ',')) data.back().push_back(number<i64>(v, "data="));
  }
  return data;
}

std::vector<std::vector<i64>> constants(string_view text) {
  std::vector<std::vector<i64>> data;
  for (string_view v : split(text, '+')) data.push_back({number<i64>(v, "fill=constant")});
  return data;
}

// The text of a constant fill: one value if all inputs have the same, else one for each input.
std::string constants_text(const Case& c) {
  const bool same = std::all_of(
      c.data.begin(), c.data.end(), [&](const auto& value) { return value == c.data[0]; });
  std::string s;
  for (std::size_t k = 0; k < (same ? 1 : c.data.size()); ++k)
    s += (k ? "+" : "") + std::to_string(c.data.empty() ? 0 : c.data[k][0]);
  return s;
}

template <std::size_t N> int named(const string_view (&names)[N], string_view s, const char* what) {
  const auto* at = std::find(std::begin(names), std::end(names), s);
  if (at == std::end(names))
    throw UsageError("case id: no " + std::string(what) + " '" + std::string(s) + "'");
  return static_cast<int>(at - std::begin(names));
}

// Reads a key that ids of all operators may have; false if it is an attribute of the operator.
bool read_key(Case& c, string_view key, string_view value) {
  if (key == "in") {
    c.in = types(value);
  } else if (key == "data") {
    c.data = values(value);
    c.fill = Fill::literal;
  } else if (key == "memory") {
    c.layout = static_cast<Layout>(named(kLayoutNames, value, "layout"));
  } else if (key == "fill") {
    const auto parts = split(value, ':');
    if (parts.size() > 2) throw UsageError("case id: fill=" + std::string(value));
    c.fill = static_cast<Fill>(named(kFillNames, parts[0], "fill"));
    if (c.fill == Fill::literal) throw UsageError("case id: literal data is written data=...");
    if (c.fill == Fill::constant)
      c.data = constants(parts.size() == 2 ? parts[1] : "0");
    else if (parts.size() == 2)
      c.seed = number<u64>(parts[1], "fill=");
  } else {
    return false;
  }
  return true;
}

void check_data(Case& c) {
  if (c.fill == Fill::constant) {
    if (c.data.size() == 1) c.data.assign(c.in.size(), c.data[0]);
    if (c.data.size() != c.in.size())
      throw UsageError("case id: fill=constant has " + std::to_string(c.data.size()) +
          " values for " + std::to_string(c.in.size()) + " inputs");
  }
  if (c.fill != Fill::literal) return;
  if (c.data.size() != c.in.size())
    throw UsageError("case id: data= has " + std::to_string(c.data.size()) + " parts for " +
        std::to_string(c.in.size()) + " inputs");
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    if (!legal(c.in[k].shape)) continue;
    if (std::ssize(c.data[k]) != volume(c.in[k].shape))
      throw UsageError("case id: data= of input " + std::to_string(k) + " has " +
          std::to_string(c.data[k].size()) + " values for " +
          std::to_string(volume(c.in[k].shape)) + " elements");
    if (c.in[k].precision < 1 || c.in[k].precision > kMaxPrecision) continue;
    for (i64 v : c.data[k])
      if (const i64 most = max_of(c.in[k].precision); v < -most || v > most)
        throw UsageError("case id: data= of input " + std::to_string(k) + ": " + std::to_string(v) +
            " is outside precision " + std::to_string(c.in[k].precision));
  }
}

}  // namespace

string_view name_of(Fill f) { return kFillNames[static_cast<int>(f)]; }
string_view name_of(Layout l) { return kLayoutNames[static_cast<int>(l)]; }

Case case_of(const OpInfo& op, const Drawn& call) {
  Case c;
  c.op = &op;
  c.attrs.assign(call.attrs, call.attrs + call.attr_count);
  c.in.assign(call.in, call.in + call.in_count);
  return c;
}

Case example_case(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  Case c = case_of(op, e.call);
  c.fill = Fill::literal;
  for (int k = 0; k < e.call.in_count; ++k)
    c.data.emplace_back(e.in[k].data.begin(), e.in[k].data.end());
  return c;
}

Case draw_case(const OpInfo& op, Draw& draw) {
  Drawn call;
  op.domain(draw, call);
  return case_of(op, call);
}

// An illegal call has no output types, and a host has to guess them: the first input's shape is its
// best guess.
Type guessed_output(const Case& c) {
  return {!c.in.empty() && legal(c.in[0].shape) ? c.in[0].shape : Shape{1}, 32};
}

i64 elements(const std::vector<Tensor>& tensors) {
  i64 n = 0;
  for (const Tensor& t : tensors) n += volume(t.type.shape);
  return n;
}

std::string operator_text(const OpInfo& op, const std::vector<Attr>& attrs) {
  std::string s(op.name);
  for (int i = 0; i < op.attrs.size(); ++i) {
    const AttrInfo& f = op.attrs[i];
    const Attr& v = attrs[static_cast<std::size_t>(i)];
    if (f.required || !(v == f.fallback)) s += "/" + std::string(f.name) + "=" + bare(f, v);
  }
  return s;
}

std::string operand_text(const Type& t) {
  std::string s;
  for (int d = 0; d < t.rank(); ++d)
    s += (d ? "x" : "") + std::to_string(d < kMaxRank ? t.dim(d) : 1);
  return s + "@" + std::to_string(t.precision);
}

std::string case_id(const Case& c) {
  std::string s = operator_text(*c.op, c.attrs) + "/in=";
  for (std::size_t k = 0; k < c.in.size(); ++k) s += (k ? "+" : "") + operand_text(c.in[k]);
  if (c.fill == Fill::literal) {
    s += "/data=";
    for (std::size_t k = 0; k < c.data.size(); ++k) {
      if (k) s += "+";
      for (std::size_t i = 0; i < c.data[k].size(); ++i)
        s += (i ? "," : "") + std::to_string(c.data[k][i]);
    }
  } else {
    s += "/fill=" + std::string(name_of(c.fill)) + ":" +
        (c.fill == Fill::constant ? constants_text(c) : std::to_string(c.seed));
  }
  if (c.layout != Layout::compact) s += "/memory=" + std::string(name_of(c.layout));
  return s;
}

Case parse_case(const std::string& id) {
  const auto parts = split(id, '/');
  Case c;
  c.op = find_operator(parts[0]);
  if (!c.op) throw UsageError("case id: no operator '" + std::string(parts[0]) + "'");
  for (const AttrInfo& f : c.op->attrs) c.attrs.push_back(f.fallback);
  std::vector<string_view> seen;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t eq = parts[i].find('=');
    const string_view key = parts[i].substr(0, eq);
    if (eq == string_view::npos)
      throw UsageError("case id: '" + std::string(parts[i]) + "' is no key=value");
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw UsageError("case id: '" + std::string(key) + "' is given twice");
    seen.push_back(key);
    const string_view value = parts[i].substr(eq + 1);
    int f = 0;
    while (f < c.op->attrs.size() && c.op->attrs[f].name != key) ++f;
    if (f < c.op->attrs.size())
      c.attrs[static_cast<std::size_t>(f)] = attribute(*c.op, c.op->attrs[f], value);
    else if (!read_key(c, key, value))
      throw UsageError(
          "case id: " + std::string(c.op->name) + " has no attribute '" + std::string(key) + "'");
  }
  for (const AttrInfo& f : c.op->attrs)
    if (f.required && std::find(seen.begin(), seen.end(), f.name) == seen.end())
      throw UsageError(
          "case id: " + std::string(c.op->name) + " needs " + std::string(f.name) + "=");
  if (std::find(seen.begin(), seen.end(), "in") == seen.end())
    throw UsageError("case id: in= is missing");
  check_data(c);
  return c;
}

std::vector<Tensor> inputs_of(const Case& c) {
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    Tensor t{c.in[k], {}};
    if (c.fill == Fill::literal)
      for (i64 v : c.data[k]) t.data.push_back(static_cast<i32>(v));
    else
      t.data = fill_values(c, static_cast<int>(k));
    in.push_back(std::move(t));
  }
  return in;
}

Case with_literal_data(const Case& c) {
  Case l = c;
  l.data.clear();
  for (const Tensor& t : inputs_of(c)) l.data.emplace_back(t.data.begin(), t.data.end());
  l.fill = Fill::literal;
  l.seed = 0;  // an id with values has no seed
  return l;
}

}  // namespace lockstep::judge
