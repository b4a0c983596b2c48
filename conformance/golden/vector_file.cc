#include "conformance/golden/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/base/base64.h"
#include "conformance/base/form.h"
#include "conformance/base/sha256.h"
#include "conformance/golden/attribute_form.h"

namespace lockstep {
namespace {

using judge::form::json, judge::form::Like;

const std::string kTooMany = "has more than " + std::to_string(judge::kMaxWritten) + " values";
const judge::form::Rule kAnyInteger{.min = INT64_MIN, .max = INT64_MAX};

Shape shape_of(const std::vector<i64>& extents) {
  Shape s;
  for (i64 e : extents) s.push(e);
  return s;
}

}  // namespace

namespace reference {

template <class F> void fields(F& form, Like<Tensor> auto& t) {
  std::vector<i64> shape(t.type.shape.begin(), t.type.shape.end());
  std::string hash = judge::values_hash(t.data);
  form("shape", shape, kAnyInteger);
  form("prec", t.type.precision, {.min = 1, .max = kMaxPrecision});
  form("data", t.data, kAnyInteger);
  form("sha256", hash, {.hash = true});
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(t)>>) {
    t.type.shape = shape_of(shape);
    form.require([&] { return legal(t.type.shape); }, "has an illegal shape");
    form.require([&] { return std::ssize(t.data) <= judge::kMaxWritten; }, kTooMany);
    form.require([&] { return std::ssize(t.data) == volume(t.type.shape); },
        "has another number of values than its shape");
    form.require([&] { return holds_its_type(t); }, "has a value outside its precision");
    form.require([&] { return judge::values_hash(t.data) == hash; },
        "has a sha256 that is not the hash of its data");
  }
}

}  // namespace reference

namespace judge {
namespace {

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

std::vector<std::string> names_of_recipes() {
  std::vector<std::string> names;
  for (int f = 0; f < kFills; ++f)
    if (recipe_allowed(static_cast<Fill>(f))) names.emplace_back(name_of(static_cast<Fill>(f)));
  return names;
}

std::vector<std::string> names_of_flags() {
  std::vector<std::string> names;
  for (const Flag& f : kFlags) names.emplace_back(f.name);
  return names;
}

struct Note {
  std::string bug, text;
};

struct Document {
  std::string version = kVectorsVersion, op = {};
  std::vector<std::string> aliases = {};
  std::vector<std::string> inputs = {}, outputs = {}, shape = {}, precision = {};
  std::string accumulator = {};
  i64 count = 0;
  std::vector<json> attributes = {};
  std::map<std::string, Note> notes = {};
  std::vector<json> tests = {};
};

template <class F> void fields(F& form, Like<Note> auto& n) {
  form("bugType", n.bug);
  form("description", n.text);
}

template <class F> void fields(F& form, Like<Document> auto& d) {
  form.constant("schema", kSchemaName);
  form.constant("specification", kSpecification);
  form("version", d.version);
  form("operator", d.op);
  form("aliases", d.aliases);
  form("inputs", d.inputs);
  form("outputs", d.outputs);
  form.optional("shape", d.shape);  // since 0.5.0
  form("precision", d.precision);
  form.optional("accumulator", d.accumulator);
  form("numberOfTests", d.count);
  form("attributes", d.attributes);
  form("notes", d.notes);
  form("tests", d.tests);
}

}  // namespace

template <class F> void fields(F& form, Like<Recipe> auto& r) {
  std::string fill(name_of(r.fill));
  i64 seed = static_cast<i64>(r.seed);
  form("fill", fill, {.words = names_of_recipes()});
  form("seed", seed, {.max = INT64_MAX});
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(r)>>) {
    while (name_of(r.fill) != fill) r.fill = static_cast<Fill>(static_cast<int>(r.fill) + 1);
    r.seed = static_cast<u64>(seed);
  }
}

template <class F> void fields(F& form, Like<VectorInput> auto& in) {
  form("shape", in.shape, kAnyInteger);
  form.optional("data", in.data, kAnyInteger);
  form.optional("recipe", in.recipe);
  form.when(in.recipe.has_value(), "sha256", in.sha256, {.hash = true});
  const auto fits = [&] { return std::ssize(*in.data) == volume(shape_of(in.shape)); };
  const auto legal_shape = [&] { return legal(shape_of(in.shape)); };
  form.require([&] { return !in.data || !in.recipe; }, "has both data and a recipe");
  form.require(
      [&] { return (!in.data && !in.recipe) || legal_shape(); }, "has values for an illegal shape");
  form.require([&] { return !in.recipe || !in.sha256.empty(); }, "has a recipe without sha256");
  form.require([&] { return !in.data || std::ssize(*in.data) <= kMaxWritten; }, kTooMany);
  form.require([&] { return !in.data || fits(); }, "has another number of values than its shape");
}

template <class F> void fields(F& form, Like<VectorCall> auto& c) {
  form("attrs", c.attrs);
  form("in_prec", c.in_prec, kAnyInteger);
  form("in", c.in);
  form.require(
      [&] { return c.in_prec.size() == c.in.size(); }, "has in_prec and in of unequal length");
}

template <class F> void fields(F& form, Like<VectorResult> auto& r) {
  std::string word = r.label.empty() ? "ok" : "error";
  form("result", word, {.words = {"ok", "error"}});
  form.when(word == "ok", "out", r.out);
  form.when(word == "error", "label", r.label);
  form.require([&] { return word == "error" || !r.out.empty(); }, "has no output");
  form.require([&] { return word == "ok" || r.label.find('.') != std::string::npos; },
      "has a label that is not scope.word");
}

template <class F> void fields(F& form, Like<VectorTest> auto& t) {
  form("tcId", t.id);
  form("comment", t.comment);
  form("flags", t.flags, {.words = names_of_flags()});
  fields(form, t.call);
  fields(form, t.result);
}

namespace {

const OpInfo* operator_of(const Document& d) {
  const std::string mine = kVectorsVersion;
  if (d.version.substr(0, d.version.find('.')) != mine.substr(0, mine.find('.')))
    throw UsageError("version " + d.version + " has another format than " + mine);
  const OpInfo* op = find_operator(d.op);
  if (!op || op->name != d.op) throw UsageError("no operator '" + d.op + "'");
  if (d.count != std::ssize(d.tests)) throw UsageError("numberOfTests is not the number of tests");
  return op;
}

// The text without spaces, ASCII.
template <class T> std::string text_of(const T& value) {
  return form::written(value).dump(-1, ' ', true);
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

std::string call_text(const VectorCall& c) { return text_of(c); }

std::string result_text(const VectorResult& r) { return text_of(r); }

std::string file_text(const VectorFile& file) {
  std::set<string_view> used;
  for (const VectorTest& t : file.tests) used.insert(t.flags.begin(), t.flags.end());
  Document d{.op = std::string(file.op->name), .count = std::ssize(file.tests)};
  if (!file.op->alias.empty()) d.aliases.emplace_back(file.op->alias);
  for (const Port& p : file.op->inputs) d.inputs.emplace_back(p.name);
  for (const Port& p : file.op->outputs) d.outputs.emplace_back(p.name);
  d.accumulator = file.op->accumulator;
  for (const Formula f : file.op->shape) d.shape.emplace_back(f);
  for (const Formula f : file.op->precision) d.precision.emplace_back(f);
  json header = form::written(d);
  for (const char* listed : {"attributes", "notes", "tests"}) header.erase(listed);
  // One line is the header, an attribute, a note or a test, so that a diff shows what changed.
  std::string s = text_of(header), attributes, notes;
  s.pop_back();
  for (const AttrInfo& a : file.op->attrs)
    attributes += (attributes.empty() ? "" : ",\n") + text_of(a);
  s += ",\n\"attributes\":[\n" + attributes + "]";
  for (const Flag& f : kFlags) {
    if (!used.count(f.name)) continue;
    const Note note{std::string(f.bug), std::string(f.text)};
    notes += (notes.empty() ? "" : ",\n") + text_of(f.name) + ":" + text_of(note);
  }
  s += ",\n\"notes\":{\n" + notes;
  s += "},\n\"tests\":[";
  for (std::size_t i = 0; i < file.tests.size(); ++i)
    s += (i ? ",\n" : "\n") + text_of(file.tests[i]);
  return s + "]}\n";
}

namespace {

// Reads test number `n` of a document.
VectorTest read_test(const json& test, std::size_t n, std::set<std::string>& ids) {
  const bool named = test.is_object() && test.contains("tcId") && test["tcId"].is_string();
  try {
    auto t = form::loaded<VectorTest>(test);
    if (!ids.insert(t.id).second) throw UsageError("this tcId is given twice");
    return t;
  } catch (const UsageError& e) {
    throw UsageError(
        (named ? test["tcId"].get<std::string>() : "test " + std::to_string(n)) + ": " + e.what());
  }
}

}  // namespace

VectorFile read_vectors(
    const std::string& text, const std::string& name, std::vector<std::string>* wrong) {
  try {
    const auto document = form::loaded<Document>(form::json_of(text));
    VectorFile file{operator_of(document), {}};
    std::set<std::string> ids;
    for (std::size_t n = 0; n < document.tests.size(); ++n) {
      try {
        file.tests.push_back(read_test(document.tests[n], n + 1, ids));
      } catch (const UsageError& e) {
        if (!wrong) throw;
        wrong->push_back(name + ": " + e.what());
      }
    }
    return file;
  } catch (const UsageError& e) {
    throw UsageError(name + ": " + e.what());
  }
}

std::string values_hash(const std::vector<i32>& values) { return sha256(little_endian(values)); }

}  // namespace judge
}  // namespace lockstep
