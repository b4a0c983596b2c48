#include "conformance/specification/specification.h"

#include <algorithm>
#include <filesystem>

#include "conformance/base/read_file.h"
#include "conformance/specification/describe.h"
#include "reference/graph/errata.h"
#include "reference/graph/graph.h"
#include "spec/explain.h"
#include "spec/gas.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

// Its name in crosschecks.json; every other name there is a library.
constexpr const char* kIndependent = "independent";

// The label as vectors spell it: an operator's own label is prefixed with its name.
std::string scoped(string_view label, const OpInfo& op) {
  const std::string word(label);
  return word.find('.') == std::string::npos ? std::string(op.name) + "." + word : word;
}

json describe_limits() {
  return {{"rank", {1, kMaxRank}}, {"extent", {1, kMaxExtent}}, {"volume", kMaxVolume},
      {"precision", {1, kMaxPrecision}}, {"inputs", kMaxInputs}, {"outputs", kMaxOutputs},
      {"tuple", kMaxTuple}, {"gas_of_one_element", kMaxGasBase}, {"gas_term", kMaxGasTerm},
      {"storage_bytes", graph::kMaxStorageBytes}};
}

json describe_profiles() {
  json all = json::array();
  for (const OpInfo* op : operators()) {
    const auto at = std::find_if(
        all.begin(), all.end(), [&](const json& p) { return p["name"] == op->profile; });
    if (at == all.end())
      all.push_back({{"name", op->profile}, {"operators", {op->name}}});
    else
      (*at)["operators"].push_back(op->name);
  }
  return all;
}

}  // namespace

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

json Evidence::crosschecks_of(const OpInfo& op) const {
  const std::string name(op.name);
  json j = {{"examples", op.example_count}, {"laws", op.laws.size()}};
  const auto file = vectors_.find(name);
  if (has_vectors_)
    j["vectors"] = file == vectors_.end() ? 0 : file->second.tests.size();
  else
    j["vectors"] = nullptr;
  j["independent"] = j["libraries"] = nullptr;
  if (!crosschecks_.is_null()) {
    const json all = crosschecks_.value(name, json::array());
    const auto second = std::count(all.begin(), all.end(), kIndependent);
    j["independent"] = second;
    j["libraries"] = static_cast<std::ptrdiff_t>(all.size()) - second;
  }
  const auto present = [](const json& count) { return !count.is_null() && count != 0; };
  j["kinds"] = std::count_if(j.begin(), j.end(), present);
  return j;
}

json describe_errata(const Evidence& evidence) {
  json all = json::array();
  const auto add = [&](const Erratum& e, const char* scope, const OpInfo* op) {
    // The operators of a family share their errata.
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const json& j) { return j["text"] == e.text; });
    if (same != all.end()) {
      (*same)["operators"].push_back(op->name);
      return;
    }
    json j = {{"scope", scope}, {"operators", json::array()}};
    if (op) j["operators"].push_back(op->name);
    j.update(describe(e));
    if (e.test.empty()) {
      const auto vector = evidence.vector_of(e, op);
      j["vector"] = vector ? json(*vector) : json(nullptr);
    }
    all.push_back(std::move(j));
  };
  for (const Erratum& e : kSharedErrata) add(e, "all", nullptr);
  for (const OpInfo* op : operators())
    for (const Erratum& e : op->errata) add(e, "operators", op);
  for (const Erratum& e : graph::kModelErrata) add(e, "models", nullptr);
  return all;
}

json describe_specification(const Evidence& evidence) {
  json j = {{"specification", "lockstep"}, {"version", kSpecificationVersion},
      {"vectors_version", kVectorsVersion}, {"limits", describe_limits()},
      {"profiles", describe_profiles()}};
  j["labels"] = json::array();
  for (const SharedLabel& l : kSharedLabels)
    j["labels"].push_back({{"label", l.label}, {"text", l.text}, {"typed", l.typed}});
  j["errata"] = describe_errata(evidence);
  j["operators"] = json::array();
  for (const OpInfo* op : operators()) {
    j["operators"].push_back(describe(*op));
    j["operators"].back()["crosschecks"] = evidence.crosschecks_of(*op);
  }
  return j;
}

}  // namespace lockstep::judge
