#include "conformance/golden/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/base/base64.h"
#include "conformance/base/sha256.h"

namespace lockstep::judge {
namespace {

using sorted_json = nlohmann::json;

constexpr char kSchemaName[] = "schema.json", kSpecification[] = "lockstep";

// The subject of a test. `bug` is the kind of mistake that it finds.
struct Flag {
  string_view name, bug, text;
};
constexpr Flag kFlags[] = {
    {"ACC_WIDTH", "ARITHMETIC",
        "Sums or intermediate values leave 8, 11, 16 or 24 bits, where int8, float16, int16 and "
        "float32 stop being exact."},
    {"ALIAS", "NAMES", "An attribute is given under its other name."},
    {"ATTRIBUTE_TEXT", "PARSING", "Attributes in another legal spelling than the canonical one."},
    {"BOUNDARY", "VALIDATION",
        "One number is a step away from a call with another outcome: the last legal call before a "
        "rule is violated, or the first illegal one."},
    {"BOUNDS", "ADDRESSING", "Positions, indices or counts at or beyond the edge of a tensor."},
    {"BROADCAST", "ADDRESSING", "The inputs have different shapes that are aligned."},
    {"DEFAULTS", "ATTRIBUTES", "Attributes are omitted and take their defaults."},
    {"EXAMPLE", "MEANING", "Computed by hand: an example of the specification."},
    {"LAYOUT", "ADDRESSING", "Many axes, or axes of extent 1: the order of elements matters."},
    {"ORDER", "VALIDATION", "Several rules are violated; the first one in order is the error."},
    {"PRECISION", "ARITHMETIC", "An input of 1 or 2, or of more than 24 bits."},
    {"REJECT", "VALIDATION", "The call is illegal: the label of the violated rule is the result."},
    {"ROUNDING", "ARITHMETIC", "A division is rounded: ties, negative values."},
    {"SATURATION", "ARITHMETIC", "Values at the end of their precision."},
    {"SIGN", "ARITHMETIC", "All values are negative, or signs change from element to element."},
    {"TAIL", "ADDRESSING", "An extent just below, at or just above 4, 8, 16, 32 or 64."},
};

struct Unreadable {
  std::string what;
};

[[noreturn]] void fail(const std::string& what) { throw Unreadable{what}; }

// The keys of an object: all of `needed` and none but those and `allowed`.
void check_keys(const sorted_json& object, const std::string& where,
    std::initializer_list<const char*> needed, std::initializer_list<const char*> allowed = {}) {
  if (!object.is_object()) fail(where + " must be an object");
  for (const char* key : needed)
    if (!object.contains(key)) fail(where + " lacks '" + key + "'");
  for (const auto& [key, value] : object.items()) {
    const auto is = [&k = key](const char* known) { return k == known; };
    if (std::none_of(needed.begin(), needed.end(), is) &&
        std::none_of(allowed.begin(), allowed.end(), is))
      fail(fmt::format("{} has the unknown key '{}'", where, key));
  }
}

std::string text_of(const sorted_json& v, const std::string& where) {
  if (!v.is_string()) fail(where + " must be a string");
  return v.get<std::string>();
}

i64 integer_of(const sorted_json& v, const std::string& where) {
  const bool fits = v.is_number_unsigned() ? v.get<u64>() <= u64{INT64_MAX} : v.is_number_integer();
  if (!fits) fail(where + " must be an integer of 64 bits");
  return v.get<i64>();
}

std::vector<i64> integers_of(const sorted_json& v, const std::string& where) {
  if (!v.is_array()) fail(where + " must be a list");
  std::vector<i64> all;
  all.reserve(v.size());
  for (const sorted_json& e : v) all.push_back(integer_of(e, where));
  return all;
}

std::string hash_of(const sorted_json& v, const std::string& where) {
  std::string h = text_of(v, where);
  if (!is_hash(h)) fail(where + " must be 64 lower-case hexadecimal digits");
  return h;
}

void check_written(std::size_t numbers, const std::string& where) {
  if (static_cast<i64>(numbers) > kMaxWritten)
    fail(where + ".data has more than " + std::to_string(kMaxWritten) + " values");
}

Shape shape_of(const std::vector<i64>& extents) {
  Shape s;
  for (i64 e : extents) s.push(e);
  return s;
}

Recipe recipe_of(const sorted_json& v, const std::string& where) {
  check_keys(v, where, {"fill", "seed"});
  const std::string name = text_of(v["fill"], where + ".fill");
  Recipe r;
  for (int f = 0; f < kFills; ++f)
    if (name_of(static_cast<Fill>(f)) == name && recipe_allowed(static_cast<Fill>(f))) {
      r.fill = static_cast<Fill>(f);
      const i64 seed = integer_of(v["seed"], where + ".seed");
      if (seed < 0) fail(where + ".seed is negative");
      r.seed = static_cast<u64>(seed);
      return r;
    }
  fail(where + ".fill: no recipe '" + name + "'");
}

VectorInput input_of(const sorted_json& v, const std::string& where) {
  check_keys(v, where, {"shape"}, {"data", "recipe", "sha256"});
  VectorInput in;
  in.shape = integers_of(v["shape"], where + ".shape");
  if (v.contains("data")) in.data = integers_of(v["data"], where + ".data");
  if (v.contains("recipe")) in.recipe = recipe_of(v["recipe"], where + ".recipe");
  if (in.data && in.recipe) fail(where + " has both data and a recipe");
  if (in.recipe.has_value() != v.contains("sha256"))
    fail(where + ": a recipe has a sha256, and nothing else has");
  if (in.recipe) in.sha256 = hash_of(v["sha256"], where + ".sha256");
  if (in.data) check_written(in.data->size(), where);
  const Shape s = shape_of(in.shape);
  if ((in.data || in.recipe) && !legal(s)) fail(where + " has values for an illegal shape");
  if (in.data && std::ssize(*in.data) != volume(s))
    fail(where + ".data has " + std::to_string(in.data->size()) + " values, its shape " +
        std::to_string(volume(s)));
  return in;
}

Tensor output_of(const sorted_json& v, const std::string& where) {
  check_keys(v, where, {"shape", "prec", "data", "sha256"});
  Tensor t;
  t.type.shape = shape_of(integers_of(v["shape"], where + ".shape"));
  const i64 p = integer_of(v["prec"], where + ".prec");
  if (!legal(t.type.shape) || p < 1 || p > kMaxPrecision) fail(where + " has an illegal type");
  t.type.precision = static_cast<int>(p);
  for (i64 e : integers_of(v["data"], where + ".data")) {
    if (e < -max_of(t.type.precision) || e > max_of(t.type.precision))
      fail(where + ".data: " + std::to_string(e) + " is outside its precision");
    t.data.push_back(static_cast<i32>(e));
  }
  check_written(t.data.size(), where);
  if (std::ssize(t.data) != volume(t.type.shape))
    fail(where + ".data has " + std::to_string(t.data.size()) + " values, its shape " +
        std::to_string(volume(t.type.shape)));
  if (values_hash(t.data) != hash_of(v["sha256"], where + ".sha256"))
    fail(where + ".sha256 is not the hash of its data");
  return t;
}

VectorCall call_of(const sorted_json& v) {
  VectorCall c;
  if (!v["attrs"].is_object()) fail("attrs must be an object");
  for (const auto& [key, text] : v["attrs"].items()) c.attrs[key] = text_of(text, "attrs." + key);
  c.in_prec = integers_of(v["in_prec"], "in_prec");
  if (!v["in"].is_array()) fail("in must be a list");
  for (const sorted_json& in : v["in"])
    c.in.push_back(input_of(in, "in[" + std::to_string(c.in.size()) + "]"));
  if (c.in_prec.size() != c.in.size()) fail("in_prec and in differ in length");
  return c;
}

VectorResult result_of(const sorted_json& v) {
  VectorResult r;
  const std::string word = text_of(v["result"], "result");
  if (word != "ok" && word != "error") fail("result must be 'ok' or 'error'");
  if (v.contains("out") != (word == "ok") || v.contains("label") != (word == "error"))
    fail("a result 'ok' has 'out', a result 'error' has 'label'");
  if (word == "error") {
    r.label = text_of(v["label"], "label");
    if (r.label.find('.') == std::string::npos) fail("label must be scope.word");
    return r;
  }
  if (!v["out"].is_array() || v["out"].empty()) fail("out must be a list of outputs");
  for (const sorted_json& out : v["out"])
    r.out.push_back(output_of(out, "out[" + std::to_string(r.out.size()) + "]"));
  return r;
}

VectorTest test_of(const sorted_json& v) {
  check_keys(v, "the test", {"tcId", "comment", "flags", "attrs", "in_prec", "in", "result"},
      {"out", "label"});
  VectorTest t;
  t.id = text_of(v["tcId"], "tcId");
  t.comment = text_of(v["comment"], "comment");
  if (!v["flags"].is_array()) fail("flags must be a list");
  for (const sorted_json& f : v["flags"]) {
    t.flags.push_back(text_of(f, "flags"));
    if (std::none_of(std::begin(kFlags), std::end(kFlags),
            [&](const Flag& known) { return known.name == t.flags.back(); }))
      fail("no flag '" + t.flags.back() + "'");
  }
  t.call = call_of(v);
  t.result = result_of(v);
  return t;
}

const OpInfo* header_of(const sorted_json& v) {
  check_keys(v, "the file",
      {"schema", "specification", "version", "operator", "aliases", "numberOfTests", "notes",
          "tests"});
  if (v["schema"] != kSchemaName || v["specification"] != kSpecification)
    fail("no vectors of this specification");
  const std::string version = text_of(v["version"], "version");
  const std::string mine = kVectorsVersion;
  if (version.substr(0, version.find('.')) != mine.substr(0, mine.find('.')))
    fail("version " + version + " has another format than " + mine);
  const OpInfo* op = find_operator(text_of(v["operator"], "operator"));
  if (!op || op->name != v["operator"])
    fail("no operator '" + v["operator"].get<std::string>() + "'");
  if (!v["tests"].is_array()) fail("tests must be a list");
  if (integer_of(v["numberOfTests"], "numberOfTests") != static_cast<i64>(v["tests"].size()))
    fail("numberOfTests is not the number of tests");
  return op;
}

std::string json_string(string_view s) { return sorted_json(s).dump(-1, ' ', true); }

template <class Items, class F> std::string listed(const Items& items, F text) {
  std::string s = "[";
  for (const auto& e : items) s += (s.size() > 1 ? "," : "") + text(e);
  return s + "]";
}

template <class Numbers> std::string numbers_text(const Numbers& numbers) {
  return listed(numbers, [](auto v) { return std::to_string(v); });
}

std::string input_text(const VectorInput& in) {
  std::string s = "{\"shape\":" + numbers_text(in.shape);
  if (in.data) s += ",\"data\":" + numbers_text(*in.data);
  if (in.recipe)
    s += ",\"recipe\":{\"fill\":" + json_string(name_of(in.recipe->fill)) +
        ",\"seed\":" + std::to_string(in.recipe->seed) + "},\"sha256\":" + json_string(in.sha256);
  return s + "}";
}

std::string output_text(const Tensor& t) {
  return "{\"shape\":" + numbers_text(t.type.shape) +
      ",\"prec\":" + std::to_string(t.type.precision) + ",\"data\":" + numbers_text(t.data) +
      ",\"sha256\":" + json_string(values_hash(t.data)) + "}";
}

std::string test_text(const VectorTest& t) {
  return "{\"tcId\":" + json_string(t.id) + ",\"comment\":" + json_string(t.comment) +
      ",\"flags\":" + listed(t.flags, json_string) + "," + call_text(t.call) + "," +
      result_text(t.result) + "}";
}

}  // namespace

bool recipe_allowed(Fill f) {
  switch (f) {
    case Fill::zero:
    case Fill::max:
    case Fill::min:
    case Fill::alternating:
    case Fill::sparse:
    case Fill::dense:
    case Fill::boundary: return true;
    default: return false;
  }
}

std::string call_text(const VectorCall& c) {
  std::string attrs;
  for (const auto& [key, text] : c.attrs)
    attrs += (attrs.empty() ? "" : ",") + json_string(key) + ":" + json_string(text);
  return "\"attrs\":{" + attrs + "},\"in_prec\":" + numbers_text(c.in_prec) +
      ",\"in\":" + listed(c.in, input_text);
}

std::string result_text(const VectorResult& r) {
  if (!r.label.empty()) return "\"result\":\"error\",\"label\":" + json_string(r.label);
  return "\"result\":\"ok\",\"out\":" + listed(r.out, output_text);
}

std::string file_text(const VectorFile& file) {
  std::set<string_view> used;
  for (const VectorTest& t : file.tests) used.insert(t.flags.begin(), t.flags.end());
  std::string notes;
  for (const Flag& f : kFlags)
    if (used.count(f.name))
      notes += (notes.empty() ? "" : ",\n") + json_string(f.name) +
          ":{\"bugType\":" + json_string(f.bug) + ",\"description\":" + json_string(f.text) + "}";
  // One line is the header, a note or a test, so that a diff shows what changed.
  std::string s = "{\"schema\":" + json_string(kSchemaName) +
      ",\"specification\":" + json_string(kSpecification) +
      ",\"version\":" + json_string(kVectorsVersion) +
      ",\"operator\":" + json_string(file.op->name) +
      ",\"aliases\":" + (file.op->alias.empty() ? "[]" : "[" + json_string(file.op->alias) + "]") +
      ",\"numberOfTests\":" + std::to_string(file.tests.size()) + ",\n\"notes\":{\n" + notes +
      "},\n\"tests\":[";
  for (std::size_t i = 0; i < file.tests.size(); ++i)
    s += (i ? ",\n" : "\n") + test_text(file.tests[i]);
  return s + "]}\n";
}

VectorFile read_vectors(const std::string& text, const std::string& name) {
  std::string where = name;
  try {
    const sorted_json v = sorted_json::parse(text);
    VectorFile file;
    file.op = header_of(v);
    std::set<std::string> ids;
    for (const sorted_json& test : v["tests"]) {
      where = name + ": test " + std::to_string(file.tests.size() + 1);
      if (test.is_object() && test.contains("tcId") && test["tcId"].is_string())
        where = name + ": " + test["tcId"].get<std::string>();
      file.tests.push_back(test_of(test));
      if (!ids.insert(file.tests.back().id).second) fail("this tcId is given twice");
    }
    return file;
  } catch (const Unreadable& e) {
    throw UsageError(where + ": " + e.what);
  } catch (const sorted_json::exception& e) {
    throw UsageError(where + ": not JSON: " + e.what());
  }
}

std::string values_hash(const std::vector<i32>& values) { return sha256(little_endian(values)); }

}  // namespace lockstep::judge
