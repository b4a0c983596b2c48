// The program describes all operators and labels, because other programs depend on that.
#include "conformance/specification/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "conformance/golden/vectors.h"
#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/program.h"
#include "reference/graph/error.h"

namespace lockstep::judge {
namespace {

using nlohmann::ordered_json;

std::set<std::string> labels_described() {
  std::set<std::string> labels;
  for (const ordered_json& l : describe_labels()) {
    const auto [at, fresh] = labels.insert(l["label"]);
    EXPECT_TRUE(fresh) << *at << " is described twice";
    EXPECT_FALSE(l["text"].get<std::string>().empty()) << *at;
  }
  return labels;
}

// The golden vectors violate every rule of calls, so their labels are all the labels there are.
TEST(Describe, EveryLabelThatVectorsExpectAndNoOther) {
  std::set<std::string> expected = {"op.unknown"};  // about no operator, so in no file
  for (const OpInfo* op : operators()) {
    const std::string file = "conformance/vectors/" + std::string(op->name) + ".json";
    const ordered_json vectors = ordered_json::parse(text_of_file(file));
    for (const ordered_json& t : vectors["tests"])
      if (t.contains("label")) expected.insert(t["label"]);
  }
  for (const graph::ModelLabel& l : graph::kModelLabels) expected.emplace(l.label);
  EXPECT_EQ(labels_described(), expected);
}

TEST(Describe, ExamplesAreLinesWhoseAnswersTheReferenceGives) {
  ReferenceSubject reference;
  for (const OpInfo* op : operators()) {
    const ordered_json j = describe(*op);
    ASSERT_EQ(j["examples"].size(), static_cast<std::size_t>(op->example_count));
    for (const ordered_json& e : j["examples"]) {
      const ordered_json got = ordered_json::parse(eval_line(reference, e["call"].dump(), 1));
      EXPECT_EQ(got["id"], e["case"]);
      EXPECT_EQ(got["status"], "ok") << got;
      EXPECT_EQ(got["out"], e["out"]) << e["case"];
      EXPECT_EQ(case_id(parse_case(e["case"])), e["case"]);
    }
  }
}

TEST(Describe, TheFirstSentenceEndsWithASentence) {
  EXPECT_EQ(first_sentence("Clamps to a_min..a_max. Then more."), "Clamps to a_min..a_max.");
  EXPECT_EQ(first_sentence("Only one, of 1.5."), "Only one, of 1.5.");
}

TEST(Describe, TheListShowsTheFirstSentenceOfEveryOperator) {
  const std::vector<std::string> lines = lines_of(lockstep_says({"list"}).out);
  ASSERT_EQ(lines.size(), operators().size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const OpInfo& op = *operators()[i];
    EXPECT_TRUE(lines[i].starts_with(op.name)) << lines[i];
    EXPECT_TRUE(lines[i].ends_with(first_sentence(op.summary))) << lines[i];
    EXPECT_TRUE(lines[i].ends_with('.')) << lines[i];
  }
}

TEST(Describe, TheProgramPrintsTheSame) {
  ordered_json all = ordered_json::array();
  for (const OpInfo* op : operators()) all.push_back(describe(*op));
  EXPECT_EQ(lockstep_says({"list", "--json"}).out, all.dump(1) + "\n");
  EXPECT_EQ(lockstep_says({"list", "--labels", "--json"}).out, describe_labels().dump(1) + "\n");
  EXPECT_EQ(lockstep_says({"show", "relu", "--json"}).out,
      describe(*find_operator("relu")).dump(1) + "\n");
}

}  // namespace
}  // namespace lockstep::judge
