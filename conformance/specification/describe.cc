#include "conformance/specification/describe.h"

#include <nlohmann/json.hpp>

#include "conformance/cases/mutate.h"
#include "conformance/jsonl/lines.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/gas.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

json describe(const AttrInfo& f) {
  json j = {{"name", f.name}, {"type", name_of(f.kind)}, {"required", f.required}};
  if (!f.required) j["default"] = attribute_text(f, f.fallback);
  if (!f.alias.empty()) j["alias"] = f.alias;
  if (f.kind == AttrKind::word)
    j["words"] = f.words;
  else if (f.kind != AttrKind::boolean || f.range.min == f.range.max)
    j["range"] = {f.range.min, f.range.max};
  if (f.kind == AttrKind::tuple) j["entries"] = {f.entries.min, f.entries.max};
  if (f.ignored) j["effect"] = false;
  j["text"] = f.text;
  return j;
}

json describe(const Port& p) {
  constexpr string_view kArity[] = {"one", "optional", "variadic"};
  return {{"name", p.name}, {"rank", {p.rank.min, p.rank.max}},
      {"arity", kArity[static_cast<int>(p.arity)]}, {"text", p.text}};
}

// Describes an example: its call as a line of `eval`, its gas as a model of one call, and the
// outputs that the header states.
json describe_example(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  const Case c = example_case(op, i);
  json out = json::array();
  for (const Literal& l : e.out)
    if (l.shape.size > 0)
      out.push_back({{"shape", std::vector<i64>(l.shape.begin(), l.shape.end())},
          {"prec", l.precision}, {"data", std::vector<i64>(l.data.begin(), l.data.end())}});
  const std::string id = case_id(c);
  return {{"text", e.text}, {"case", id},
      {"call", json::parse(write_request(c, inputs_of(c), json(id).dump()))},
      {"gas", gas_of(op, c.attributes(), c.types()).total()}, {"out", out}};
}

}  // namespace

string_view name_of(AttrKind k) {
  constexpr string_view kNames[] = {"int", "bool", "tuple", "int or None", "word"};
  return kNames[static_cast<int>(k)];
}

std::string first_sentence(string_view text) {
  const std::size_t end = text.find(". ");
  return std::string(text.substr(0, end == text.npos ? end : end + 1));
}

json describe(const Erratum& e) {
  json j = {{"text", e.text}, {"reason", e.reason}};
  const std::pair<const char*, string_view> witness[] = {
      {"op", e.op}, {"example", e.example}, {"label", e.label}, {"test", e.test}};
  for (const auto& [key, value] : witness)
    if (!value.empty()) j["shown_by"][key] = value;
  return j;
}

json describe(const OpInfo& op) {
  json j = {
      {"name", op.name}, {"profile", op.profile}, {"summary", op.summary}, {"formula", op.formula}};
  if (!op.alias.empty()) j["alias"] = op.alias;
  j["defined_by"] = op.pointwise ? "at" : "eval";
  j["in_place"] = op.in_place;
  for (const Port& p : op.inputs) j["inputs"].push_back(describe(p));
  for (const Port& p : op.outputs) j["outputs"].push_back(describe(p));
  j["attributes"] = json::array();
  for (const AttrInfo& f : op.attrs) j["attributes"].push_back(describe(f));
  j["gas"] = op.gas_text;
  j["rules"] = json::array();
  for (const OwnLabel& l : own_labels(op))
    j["rules"].push_back({{"label", l.label}, {"fault", "logic"}, {"text", l.text}});
  j["labels"] = typed_labels(op);
  j["errata"] = json::array();
  for (const Erratum& e : op.errata) j["errata"].push_back(describe(e));
  j["laws"] = json::array();
  for (const LawInfo& l : op.laws) j["laws"].push_back({{"label", l.label}, {"text", l.text}});
  j["examples"] = json::array();
  for (int i = 0; i < op.example_count; ++i) j["examples"].push_back(describe_example(op, i));
  return j;
}

json describe_labels() {
  json all = json::array();
  for (const SharedLabel& l : kSharedLabels)
    all.push_back({{"label", l.label}, {"text", l.text}, {"typed", l.typed}});
  for (const OpInfo* op : operators())
    for (const OwnLabel& l : own_labels(*op))
      all.push_back({{"label", l.label}, {"text", l.text}, {"typed", true}, {"op", op->name}});
  return all;
}

}  // namespace lockstep::judge
