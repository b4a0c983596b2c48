// Compares errata about the deployed runtime with that runtime's answers (deployed.jsonl).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "reference/graph/arrays.h"
#include "reference/graph/bytes.h"
#include "reference/graph/errata.h"
#include "reference/graph/error.h"
#include "reference/graph/run.h"
#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

// One call or model, the recorded answer, and how that differs from ours.
struct Record {
  std::string topic, line;
  Deployed there = Deployed::same;
};

std::ostream& operator<<(std::ostream& out, const Record& r) {
  return out << r.line << " is " << static_cast<int>(r.there);
}

// Whether two outputs differ. A record always has the types, and values if the call gives some.
bool differs(const json& ours, const json& theirs) {
  return ours["shape"] != theirs["shape"] || ours["prec"] != theirs["prec"] ||
      (theirs.contains("data") && ours["data"] != theirs["data"]);
}

Deployed relation(const json& ours, const json& theirs) {
  const bool here = ours["status"] == "ok", there = theirs["status"] == "ok";
  if (theirs.value("label", "") == "backend.crashed") return Deployed::crashes;
  if (here && there) {
    for (std::size_t k = 0; k < ours["out"].size(); ++k)
      if (differs(ours["out"][k], theirs["out"][k])) return Deployed::differs;
    return Deployed::same;
  }
  if (here) return Deployed::refuses;
  if (there) return Deployed::accepts;
  return ours["status"] == theirs["status"] ? Deployed::same : Deployed::blames;
}

json answer_to_call(json call) {
  static ReferenceSubject reference;
  call["id"] = 1;
  return json::parse(eval_line(reference, call.dump(), 1));
}

std::vector<std::byte> bytes_of(const json& values, i64 size) {
  std::vector<std::byte> bytes;
  for (const json& v : values)
    for (i64 k = 0; k < size; ++k) bytes.push_back(static_cast<std::byte>(v.get<i64>() >> 8 * k));
  return bytes;
}

ndarray::NDArray array_of(const json& tensor) {
  Shape shape;
  for (const json& extent : tensor["shape"]) shape.push(extent.get<i64>());
  return graph::array_of(shape, tensor["data"].get<std::vector<i32>>());
}

// The output for a model's input, in bytes; a recorded null is a byte that was not written.
json answer_to_model(const json& m) {
  json out = json::array();
  try {
    graph::Parameters parameters;
    for (const auto& [name, tensor] : m["params"].items()) parameters[name] = array_of(tensor);
    const graph::Model model(graph::Graph(m["symbol"].dump()), std::move(parameters));
    graph::ReferenceEngine engine;
    const i64 size = graph::input_element_size(model.graph());
    for (const std::byte b : graph::Runner(model, engine).run(bytes_of(m["input"], size)))
      out.push_back(static_cast<int>(b));
  } catch (const graph::Error& e) {
    return {{"status", "logic_error"}, {"label", e.label()}};
  }
  return {{"status", "ok"}, {"out", {{{"shape", {out.size()}}, {"prec", 8}, {"data", out}}}}};
}

const std::vector<Record>& records() {
  static const std::vector<Record> all = [] {
    std::vector<Record> r;
    std::ifstream in("conformance/specification/deployed.jsonl");
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(json::parse(line)["revision"].get<std::string>().size(), 40u);
    while (std::getline(in, line)) {
      const json j = json::parse(line);
      const json ours =
          j.contains("call") ? answer_to_call(j["call"]) : answer_to_model(j["model"]);
      r.push_back({j.value("topic", ""), line, relation(ours, j["answer"])});
    }
    return r;
  }();
  return all;
}

bool is_about(const Record& r, const Erratum& e) {
  const std::string_view topic = e.deployed.topic;
  return !topic.empty() && (r.topic == topic || r.topic.substr(0, r.topic.find('/')) == topic);
}

// Every erratum, those of a family of operators once for each of them.
std::vector<Erratum> errata() {
  std::vector<Erratum> all(std::begin(kSharedErrata), std::end(kSharedErrata));
  for (const OpInfo* op : operators()) all.insert(all.end(), op->errata.begin(), op->errata.end());
  all.insert(all.end(), std::begin(graph::kModelErrata), std::end(graph::kModelErrata));
  return all;
}

TEST(DeployedRuntime, AnsweredAsEveryErratumSays) {
  for (const Erratum& e : errata()) {
    int found = 0;
    for (const Record& r : records()) {
      if (!is_about(r, e)) continue;
      ++found;
      EXPECT_EQ(r.there, e.deployed.there) << r << "\n" << e.text;
    }
    EXPECT_EQ(found > 0, !e.deployed.empty()) << e.text;
  }
}

TEST(DeployedRuntime, DiffersOnlyWhereAnErratumSaysSo) {
  const std::vector<Erratum> all = errata();
  for (const Record& r : records())
    EXPECT_EQ(std::any_of(all.begin(), all.end(), [&](const Erratum& e) { return is_about(r, e); }),
        !r.topic.empty())
        << r;
  for (const Record& r : records())
    if (r.topic.empty()) {
      EXPECT_EQ(r.there, Deployed::same) << r;
    }
}

TEST(DeployedRuntime, IsNamedOnlyWhereItsAnswersWereRecorded) {
  for (const Erratum& e : errata()) {
    const std::string text = std::string(e.text) + " " + std::string(e.reason);
    EXPECT_EQ(text.find("deployed runtime") != text.npos, !e.deployed.empty()) << text;
  }
}

// If the runtime refused one spelling, it must have been asked the others, too.
TEST(DeployedRuntime, WasAskedForEveryKindOfAttributeAndEveryOtherName) {
  const auto was_asked = [](const std::string& part) {
    return std::any_of(records().begin(), records().end(),
        [&](const Record& r) { return r.line.find(part) != r.line.npos; });
  };
  for (const char* text : {"\"+4\"", "\"+04\"", "\"( +1 , -2 )\"", "\"+1\"", "\"+0\""})
    EXPECT_TRUE(was_asked(text)) << text;
  for (const OpInfo* op : operators()) {
    if (!op->alias.empty()) {
      EXPECT_TRUE(was_asked("\"op\":\"" + std::string(op->alias) + "\"")) << op->alias;
    }
    for (const AttrInfo& a : op->attrs)
      if (!a.alias.empty()) {
        EXPECT_TRUE(was_asked("\"" + std::string(a.alias) + "\":")) << op->name << a.alias;
      }
    if (op->attrs.size() == 0) {
      EXPECT_TRUE(was_asked("\"op\":\"" + std::string(op->name) + "\",\"attrs\":{\"no_such"));
    }
  }
}

}  // namespace
}  // namespace lockstep::judge
