#include "conformance/subjects/manifest.h"

#include <algorithm>

#include "conformance/base/form.h"
#include "conformance/subjects/subject.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

using form::json;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw UsageError("has a wrong manifest: '" + printable(where) + "' " + why);
}

// Reports print these texts; other characters could rewrite a line of theirs.
std::string printed(const char* key, const std::string& text) {
  for (const char c : text)
    if (c < ' ' || c > '~') refuse(key, "must be printable ASCII");
  return text;
}

std::string text_of(const json& j, const char* key) {
  if (!j.contains(key) || !j[key].is_string()) refuse(key, "must be a string");
  return printed(key, j[key]);
}

std::vector<std::string> texts_of(const json& j, const char* key) {
  std::vector<std::string> v;
  if (!j.contains(key)) return v;
  if (!j[key].is_array()) refuse(key, "must be a list of strings");
  for (const json& e : j[key]) {
    if (!e.is_string()) refuse(key, "must be a list of strings");
    v.push_back(printed(key, e));
  }
  return v;
}

void read_range(const json& j, const char* key, Range& r) {
  if (!j.contains(key)) return;
  const json& v = j[key];
  const auto fits = [](const json& n) {
    return n.is_number_integer() && !(n.is_number_unsigned() && n.get<std::uint64_t>() > INT64_MAX);
  };
  if (!v.is_array() || v.size() != 2 || !fits(v[0]) || !fits(v[1]))
    refuse(key, "must be [least, most]");
  r = {v[0], v[1]};
  if (r.min > r.max) refuse(key, "must be [least, most]");
}

// Refuses a misspelt attribute or value, which would silently claim another set of calls.
void check_values(
    const OpInfo& op, const std::string& name, const std::vector<std::string>& legal) {
  const auto f = std::find_if(
      op.attrs.begin(), op.attrs.end(), [&](const AttrInfo& a) { return a.name == name; });
  if (f == op.attrs.end()) refuse(name, "is no attribute of " + std::string(op.name));
  for (const std::string& text : legal)
    if (!parse_attribute(*f, text).broken.empty())
      refuse(name, "of " + std::string(op.name) + " cannot be '" + printable(text) + "'");
}

// A claim for "*" restricts the operators that have the attribute.
void check_values_anywhere(const std::string& name) {
  for (const OpInfo* op : operators())
    for (const AttrInfo& f : op->attrs)
      if (f.name == name) return;
  refuse(name, "is no attribute of any operator");
}

Claim claim_of(const std::string& op, const json& j) {
  if (op != "*" && !find_operator(op)) refuse(op, "is claimed but is no operator");
  if (!j.is_object()) refuse(op, "must be an object of restrictions");
  Claim c;
  c.op = op == "*" ? op : std::string(find_operator(op)->name);
  for (const auto& [key, value] : j.items()) {
    if (key == "attrs") {
      if (!value.is_object()) refuse(key, "must be an object");
      for (const auto& [name, legal] : value.items()) {
        c.attrs[name] = texts_of(value, name.c_str());
        if (op == "*")
          check_values_anywhere(name);
        else
          check_values(*find_operator(op), name, c.attrs[name]);
      }
    } else if (key != "rank" && key != "precision" && key != "extent") {
      refuse(key, "is no restriction of a claim");
    }
  }
  read_range(j, "rank", c.rank);
  read_range(j, "precision", c.precision);
  read_range(j, "extent", c.extent);
  return c;
}

KernelInfo kernel_of(const json& j) {
  if (!j.is_object()) refuse("kernels", "must be a list of objects");
  if (!j.contains("runnable") || !j["runnable"].is_boolean())
    refuse("runnable", "must be a boolean");
  const std::string op = text_of(j, "op");
  if (op != "*" && !find_operator(op)) refuse(op, "has a kernel but is no operator");
  return {op == "*" ? op : std::string(find_operator(op)->name), text_of(j, "name"),
      text_of(j, "isa"), j["runnable"]};
}

// Refuses a misspelt claim, which would silently claim less.
void check_claims(const json& claims) {
  constexpr string_view kAll[] = {
      "attributes", "determinism", "errors", "layouts", "operators", "threads"};
  if (!claims.is_object()) refuse("claims", "must be an object");
  for (const auto& [key, value] : claims.items())
    if (std::find(std::begin(kAll), std::end(kAll), key) == std::end(kAll))
      refuse(key,
          "is no claim; there are attributes, determinism, errors, layouts, operators and threads");
}

void read_claims(const json& claims, Manifest& m) {
  check_claims(claims);
  if (claims.contains("operators")) {
    if (!claims["operators"].is_object()) refuse("operators", "must be an object");
    for (const auto& [op, restrictions] : claims["operators"].items())
      m.claims.push_back(claim_of(op, restrictions));
  }
  const auto layouts = texts_of(claims, "layouts");
  for (const std::string& l : layouts)
    if (l != "compact" && l != "strided") refuse("layouts", "must be of compact and strided");
  m.strided = std::find(layouts.begin(), layouts.end(), "strided") != layouts.end();
  const auto attributes = texts_of(claims, "attributes");
  for (const std::string& a : attributes)
    if (a != "values" && a != "text") refuse("attributes", "must be of values and text");
  m.reads_text = std::find(attributes.begin(), attributes.end(), "text") != attributes.end();
  read_range(claims, "threads", m.threads);
  if (m.threads.min < 1) refuse("threads", "must be of 1 and more");
  if (claims.contains("determinism")) m.determinism = text_of(claims, "determinism");
  constexpr string_view kClasses[] = {"D0", "D1", "D2", "D3"};
  if (std::find(std::begin(kClasses), std::end(kClasses), m.determinism) == std::end(kClasses))
    refuse("determinism", "must be D0, D1, D2 or D3, not '" + printable(m.determinism) + "'");
  const std::string errors = claims.contains("errors") ? text_of(claims, "errors") : "none";
  if (errors != "label" && errors != "class" && errors != "none")
    refuse("errors", "must be label, class or none");
  m.errors = errors == "label" ? Errors::label : errors == "class" ? Errors::cls : Errors::none;
}

bool inside(const Claim& claim, const Case& c) {
  for (const Type& t : c.in) {
    if (!claim.rank.contains(t.rank()) || !claim.precision.contains(t.precision)) return false;
    for (i64 e : t.shape)
      if (!claim.extent.contains(e)) return false;
  }
  for (int i = 0; i < c.op->attrs.size(); ++i) {
    const AttrInfo& f = c.op->attrs[i];
    const auto limit = claim.attrs.find(std::string(f.name));
    if (limit == claim.attrs.end()) continue;
    const std::string value = attribute_text(f, c.attrs[static_cast<std::size_t>(i)]);
    const auto names_it = [&](const std::string& text) {
      const ParsedAttr legal = parse_attribute(f, text);
      return legal.broken.empty() && attribute_text(f, legal.value) == value;
    };
    if (std::none_of(limit->second.begin(), limit->second.end(), names_it)) return false;
  }
  return true;
}

const Claim* claim_for(const std::vector<Claim>& claims, string_view op) {
  const Claim* all = nullptr;
  for (const Claim& c : claims) {
    if (c.op == op) return &c;
    if (c.op == "*") all = &c;
  }
  return all;
}

}  // namespace

bool Manifest::claims_operator(string_view op) const { return claim_for(claims, op) != nullptr; }

bool Manifest::claims_call(const Case& c) const {
  const Claim* claim = claim_for(claims, c.op->name);
  return claim && inside(*claim, c);
}

const KernelInfo* Manifest::kernel(string_view op, string_view name) const {
  for (const KernelInfo& k : kernels)
    if ((k.op == op || k.op == "*") && k.name == name) return &k;
  return nullptr;
}

bool Manifest::has_option(string_view name) const {
  return std::find(options.begin(), options.end(), name) != options.end();
}

Manifest parse_manifest(const std::string& text) {
  json j;
  try {
    j = form::json_of(text);
  } catch (const UsageError& e) {
    throw UsageError(std::string("has a wrong manifest: ") + e.what());
  }
  if (!j.is_object()) throw UsageError("has a wrong manifest: it is no JSON object");
  Manifest m;
  m.text = text;
  m.name = text_of(j, "name");
  m.version = text_of(j, "version");
  m.device = text_of(j, "device");
  m.options = texts_of(j, "options");
  if (!j.contains("kernels") || !j["kernels"].is_array()) refuse("kernels", "must be a list");
  for (const json& k : j["kernels"]) m.kernels.push_back(kernel_of(k));
  if (j.contains("claims")) read_claims(j["claims"], m);
  return m;
}

Manifest default_manifest(const std::string& name) {
  Manifest m;
  m.name = name;
  m.version = "unknown";
  m.device = "unknown";
  m.claims.emplace_back().op = "*";
  m.reads_text = true;
  m.errors = Errors::label;
  return m;
}

}  // namespace lockstep::judge
