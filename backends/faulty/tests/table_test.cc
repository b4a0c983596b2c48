/// @file
/// The table of mutants: complete, unambiguous, and the same in the manifest.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/client.hpp"
#include "backends/faulty/mutant.h"

namespace lockstep::faulty {
namespace {

TEST(Table, NamesAreUniqueAndNameTheirOperator) {
  std::set<string_view> names;
  for (const Mutant& m : mutants()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " twice";
    const string_view scope = m.name.substr(0, m.name.find('.'));
    EXPECT_EQ(scope, m.op == "*" ? "contract" : m.op) << m.name;
    if (m.op != "*") {
      const OpInfo* op = find_operator(m.op);
      EXPECT_TRUE(op && op->name == m.op) << m.name << " is of no operator";
    }
  }
}

TEST(Table, EveryOperatorHasThree) {
  std::map<string_view, int> count;
  for (const Mutant& m : mutants()) ++count[m.op];
  for (const OpInfo* op : operators()) EXPECT_GE(count[op->name], 3) << op->name;
  EXPECT_GE(count["*"], 12);
  EXPECT_GE(mutants().size(), 290u);
}

TEST(Table, KindsAreKnownAndProvenanceIsPlainText) {
  const std::set<string_view> kinds = {"SATURATION", "ACC_WIDTH", "TAIL", "SIGN", "ROUNDING",
      "ORDER", "BOUNDS", "BROADCAST", "LAYOUT", "AXIS", "PADDING", "INFER", "CONTRACT", "CRASH",
      "HANG", "RACE", "SCALE", "WAY"};
  for (const Mutant& m : mutants()) {
    EXPECT_TRUE(kinds.count(m.kind)) << m.name << ": " << m.kind;
    EXPECT_FALSE(m.provenance.empty()) << m.name;
    EXPECT_EQ(m.provenance.find_first_of("\"\\\n"), string_view::npos) << m.name;
    EXPECT_NE(m.evaluate == nullptr, m.make == nullptr) << m.name;
  }
}

TEST(Table, ManifestListsEveryMutant) {
  const auto manifest = nlohmann::json::parse(client::Library(lockstep_backend_v1()).manifest());
  EXPECT_EQ(manifest["name"], "faulty");
  EXPECT_EQ(manifest["claims"]["errors"], "label");
  EXPECT_TRUE(manifest["claims"]["operators"].contains("*"));
  ASSERT_EQ(manifest["mutants"].size(), mutants().size());
  for (std::size_t i = 0; i < mutants().size(); ++i) {
    const Mutant& m = mutants()[i];
    EXPECT_EQ(manifest["mutants"][i],
        (nlohmann::json{{"name", std::string(m.name)}, {"op", std::string(m.op)},
            {"kind", std::string(m.kind)}, {"provenance", std::string(m.provenance)},
            {"tier", m.tier}}));
  }
}

client::Status opened(const client::Options& options) {
  return client::Backend::open(client::Library(lockstep_backend_v1()), options).status();
}

TEST(Table, OpenNeedsAMutantThatExists) {
  EXPECT_EQ(opened({{"mutant", "sum.float32"}}).code, LS_OK);
  EXPECT_EQ(opened({}).label, "option.missing");
  EXPECT_EQ(opened({{"mutant", "sum.float31"}}).label, "option.value");
  EXPECT_EQ(opened({{"block", "1"}}).label, "option.unknown");
  for (const Mutant& m : mutants())  // except those that may end this process when they close
    EXPECT_TRUE(!m.answers() || opened({{"mutant", std::string(m.name)}}).ok()) << m.name;
}

}  // namespace
}  // namespace lockstep::faulty
