#include "conformance/specification/specification.h"

#include <algorithm>
#include <filesystem>

#include "conformance/base/read_file.h"
#include "conformance/specification/forms.h"
#include "reference/graph/errata.h"
#include "reference/graph/graph.h"
#include "spec/gas.h"

namespace lockstep::judge {
namespace {

using form::json;

// Its name in crosschecks.json; every other name there is a library.
constexpr const char* kIndependent = "independent";

// The label as vectors spell it: an operator's own label is prefixed with its name.
std::string scoped(string_view label, const OpInfo& op) {
  const std::string word(label);
  return word.find('.') == std::string::npos ? std::string(op.name) + "." + word : word;
}

template <class F> void describe_limits(F& limits) {
  limits("rank", forms::ends({1, kMaxRank}));
  limits("extent", forms::ends({1, kMaxExtent}));
  limits("volume", kMaxVolume);
  limits("precision", forms::ends({1, kMaxPrecision}));
  limits("inputs", kMaxInputs);
  limits("outputs", kMaxOutputs);
  limits("tuple", kMaxTuple);
  limits("gas_of_one_element", kMaxGasBase);
  limits("gas_term", kMaxGasTerm);
  limits("storage_bytes", graph::kMaxStorageBytes);
}

struct Profile {
  string_view name;
  std::vector<string_view> operators;
};

template <class F> void fields(F& form, const Profile& p) {
  form("name", p.name, {.pattern = "^[A-Z]+$"});
  form("operators", p.operators, {.pattern = forms::kName.pattern, .filled = true});
}

std::vector<Profile> profiles() {
  std::vector<Profile> all;
  for (const OpInfo* op : operators()) {
    auto at = std::ranges::find(all, op->profile, &Profile::name);
    if (at == all.end()) at = all.insert(at, {op->profile, {}});
    at->operators.push_back(op->name);
  }
  return all;
}

// An erratum, once for all operators that have it.
struct ListedErratum {
  const char* scope = "all";
  std::vector<string_view> operators;
  Erratum erratum;
  std::optional<std::string> vector;
};

template <class F> void fields(F& form, const ListedErratum& e) {
  form("scope", e.scope, {.words = {"all", "operators", "models"}});
  form("operators", e.operators, forms::kName);
  fields(form, e.erratum);
  form.when(e.erratum.test.empty(), "vector", e.vector,
      {.text = "The identifier; null where the vectors are not installed.",
          .pattern = "^[a-z0-9_]+-[0-9]{4,8}$"});
}

std::vector<ListedErratum> listed_errata(const Evidence& evidence) {
  std::vector<ListedErratum> all;
  const auto add = [&](const Erratum& e, const char* scope, const OpInfo* op) {
    // The operators of a family share their errata.
    auto at = std::ranges::find(all, e.text, [](const ListedErratum& l) { return l.erratum.text; });
    if (at == all.end()) at = all.insert(at, {scope, {}, e, evidence.vector_of(e, op)});
    if (op) at->operators.push_back(op->name);
  };
  for (const Erratum& e : kSharedErrata) add(e, "all", nullptr);
  for (const OpInfo* op : operators())
    for (const Erratum& e : op->errata) add(e, "operators", op);
  for (const Erratum& e : graph::kModelErrata) add(e, "models", nullptr);
  return all;
}

// An operator with its cross-checks.
struct CheckedOperator {
  OpInfo op;
  Crosschecks crosschecks;
};

template <class F> void fields(F& form, const CheckedOperator& o) {
  fields(form, o.op);
  form("crosschecks", o.crosschecks);
}

struct Specification {
  std::vector<ListedErratum> errata;
  std::vector<CheckedOperator> operators;
};

template <class F> void fields(F& form, const Specification& s) {
  form.constant("specification", "lockstep");
  form("version", kSpecificationVersion, {.pattern = "^[0-9]+\\.[0-9]+$"});
  form("vectors_version", kVectorsVersion, {.pattern = "^[0-9]+\\.[0-9]+\\.[0-9]+$"});
  form.object("limits", [](auto& limits) { describe_limits(limits); });
  form("profiles", profiles(), {.filled = true});
  form("labels", Span<SharedLabel>{kSharedLabels, std::size(kSharedLabels)},
      {.text = "Those that all operators share, in the order of judgement.", .filled = true});
  form("errata", s.errata);
  form("operators", s.operators, {.filled = true});
}

}  // namespace

template <class F> void fields(F& form, const Crosschecks& c) {
  constexpr const char* kUnknown = "null is unknown, because the data is not installed.";
  form("examples", c.examples, {.min = 1, .text = "Worked out by hand."});
  form("laws", c.laws);
  form("vectors", c.vectors, {.text = kUnknown});
  form("independent", c.independent, {.text = kUnknown});
  form("libraries", c.libraries, {.text = kUnknown});
  form("kinds", c.kinds(), {.min = 1, .text = "How many of these are there."});
}

Evidence::Evidence(const std::string& vectors, const std::string& crosschecks)
    : has_vectors_(!vectors.empty()) {
  for (const OpInfo* op : operators()) {
    const std::string name(op->name);
    const auto path = std::filesystem::path(vectors) / (name + ".json");
    if (has_vectors_ && std::filesystem::exists(path))
      vectors_.emplace(name, read_vectors(read_file(path), path.string()));
  }
  if (crosschecks.empty()) return;
  crosschecks_ = json::parse(read_file(crosschecks), nullptr, false);
  const bool well_formed = crosschecks_.is_object() &&
      std::all_of(crosschecks_.begin(), crosschecks_.end(),
          [](const json& list) { return list.is_array(); });
  if (!well_formed) throw UsageError("'" + crosschecks + "' is no JSON object of lists");
}

std::optional<std::string> Evidence::vector_of(const Erratum& e, const OpInfo* op) const {
  if (!e.op.empty()) op = find_operator(e.op);
  const auto file = op ? vectors_.find(std::string(op->name)) : vectors_.end();
  if (file == vectors_.end()) return {};
  const auto& tests = file->second.tests;
  const auto shows = std::find_if(tests.begin(), tests.end(), [&](const VectorTest& t) {
    return e.label.empty() ? t.comment == e.example : t.result.label == scoped(e.label, *op);
  });
  return shows == tests.end() ? std::nullopt : std::optional(shows->id);
}

Crosschecks Evidence::crosschecks_of(const OpInfo& op) const {
  const std::string name(op.name);
  Crosschecks c{.examples = op.example_count, .laws = op.laws.size()};
  const auto file = vectors_.find(name);
  if (has_vectors_) c.vectors = file == vectors_.end() ? 0 : std::ssize(file->second.tests);
  if (!crosschecks_.is_null()) {
    const json all = crosschecks_.value(name, json::array());
    c.independent = std::count(all.begin(), all.end(), kIndependent);
    c.libraries = std::ssize(all) - *c.independent;
  }
  return c;
}

int Crosschecks::kinds() const {
  return (examples > 0) + (laws > 0) + (vectors > 0) + (independent > 0) + (libraries > 0);
}

json describe_errata(const Evidence& evidence) { return form::written(listed_errata(evidence)); }

json describe_specification(const Evidence& evidence) {
  Specification s{listed_errata(evidence), {}};
  for (const OpInfo* op : operators()) s.operators.push_back({*op, evidence.crosschecks_of(*op)});
  return form::written(s);
}

std::string specification_schema() {
  return form::schema<Specification>("The specification of Lockstep, as data");
}

}  // namespace lockstep::judge
