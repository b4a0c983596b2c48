// Which results an expectation excuses, call by call.
#include "conformance/verdict/expectations.h"

#include <gtest/gtest.h>

#include "conformance/base/sha256.h"
#include "conformance/reports/report.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

Expectation expecting(
    const std::string& property, const std::string& id = "", const std::string& kind = "fail") {
  return {.place = "known.toml:1", .op = "relu", .property = property, .id = id, .kind = kind};
}

Item item_of(Item::What what, const std::string& id) {
  return {what, parse_case("relu/in=1@8/data=1"), {}, id, {}};
}

ItemResult failed_at(const std::vector<std::string>& properties) {
  ItemResult r;
  r.outcome = Outcome::failed;
  r.judged = {"layout", "alignment", "infers"};
  for (const std::string& p : properties) r.findings.push_back({p, {"is wrong"}});
  return r;
}

TEST(Expectation, OfACaseKnowsAVectorByItsNameAndByItsCall) {
  const std::string call = "relu/in=1@8/data=1";
  const std::tuple<Item::What, const char*, std::string, bool> rows[] = {
      {Item::vector, "relu-0007", "relu-0007", true}, {Item::vector, "relu-0007", call, true},
      {Item::vector, "relu-0007", "relu-0008", false}, {Item::legal, "other", call, false},
      {Item::legal, "other", "oth*", true}, {Item::legal, "other", "", true}};
  for (const auto& [what, id, expected, known] : rows) {
    std::vector<Expectation> all = {expecting("layout", expected)};
    const auto knowing = match_expectations(all, item_of(what, id), 3, failed_at({"layout"}));
    ASSERT_EQ(knowing.size(), 1U);
    EXPECT_EQ(knowing[0] != nullptr, known) << id << " " << expected;
    EXPECT_EQ(all[0].matched, known) << id << " " << expected;
  }
}

TEST(Expectation, KnowsTheFindingsThatItNames) {
  std::vector<Expectation> all = {expecting("alignment"), expecting("lay*"), expecting("layout"),
      expecting("layout", "", "crash"), expecting("infers", "o*")};
  const auto knowing =
      match_expectations(all, item_of(Item::legal, "one"), 3, failed_at({"layout", "alignment"}));
  EXPECT_EQ(knowing, (std::vector<const Expectation*>{&all[1], &all[0]})) << "the first that does";
  match_expectations(all, item_of(Item::legal, "other"), 4, failed_at({}));
  std::string counts;
  for (const Expectation& e : all)
    counts += std::to_string(e.matched) + "/" + std::to_string(e.judged) + e.passed + " ";
  EXPECT_EQ(counts, "1/2 1/2 1/2 0/2 0/2one ");
  EXPECT_EQ(all[4].passed_number, 3);
}

TEST(Expectation, OfAFailureOfTheRunNamesNoCase) {
  std::vector<Expectation> all = {expecting("isa", "relu*"), expecting("layout"),
      expecting("isa", "", "crash"), expecting("is?"), expecting("isa")};
  EXPECT_EQ(match_expectations(all, "relu", "isa", "x"), &all[3]);
  EXPECT_EQ(match_expectations(all, "sum", "isa", "x"), nullptr);
  std::string counts;
  for (const Expectation& e : all)
    counts += std::to_string(e.matched) + "/" + std::to_string(e.judged) + " ";
  EXPECT_EQ(counts, "0/0 0/0 0/1 1/1 1/1 ");
}

TEST(Expectation, OfADeathIsOfTheOperatorAndStillHolds) {
  const auto knows = [](const Expectation& e) { return expects_crashes_of({e}, "relu"); };
  EXPECT_TRUE(knows(expecting("*", "", "crash")));
  EXPECT_TRUE(knows(expecting("*", "", "timeout")));
  EXPECT_FALSE(knows(expecting("*")));
  EXPECT_FALSE(knows(expecting("*", "relu*", "crash")));
  Expectation e = expecting("*", "", "crash");
  EXPECT_FALSE(expects_crashes_of({e}, "sum"));
  e.expired = true;
  EXPECT_FALSE(knows(e));
}

// A whole run at tier 1 of two cases with an expectation that matches nothing, for rows to change.
Report unmatched() {
  Report r;
  r.tier = 1;
  r.counts.executed = 2;
  r.expectations = {expecting("layout")};
  return r;
}

TEST(Expectation, ThatMatchesNothingIsStaleWhereAllWasJudged) {
  const char *nothing = "known.toml:1 (relu layout) matches nothing",
             *passes = "known.toml:1 (relu layout) passes";
  const std::tuple<const char*, void (*)(Report&), const char*> rows[] = {
      {"all", [](Report&) {}, nothing},
      {"judged", [](Report& r) { r.expectations[0].judged = 1; }, passes},
      {"one case", [](Report& r) { r.counts.executed = 1; }, nothing},
      {"no case", [](Report& r) { r.counts.executed = 0; }, ""},
      {"missing", [](Report& r) { r.counts.missing = 1; }, ""},
      {"a prefix", [](Report& r) { r.chosen.budget = 1; }, ""},
      {"cases", [](Report& r) { r.chosen.cases = {"relu/in=1@8/data=1"}; }, ""},
      {"a part", [](Report& r) { r.part.of = 2; }, ""},
      {"matched", [](Report& r) { r.expectations[0].matched = 1; }, ""},
      {"its tier", [](Report& r) { r.expectations[0].tier = 1; }, nothing},
      {"a later tier", [](Report& r) { r.expectations[0].tier = 2; }, ""},
      {"another operator", [](Report& r) { r.chosen.operators = {"sum"}; }, ""},
      {"its operator", [](Report& r) { r.chosen.operators = {"relu"}; }, nothing},
      {"another property", [](Report& r) { r.chosen.properties = {"infers"}; }, ""},
      {"its property",
          [](Report& r) {
            r.chosen.properties.assign({"infers", "layout"});
          },
          nothing}};
  for (const auto& [name, change, says] : rows) {
    Report r = unmatched();
    change(r);
    const std::vector<std::string> texts = stale(r);
    EXPECT_EQ(texts.empty() ? "" : texts[0], says) << name;
  }
}

TEST(Expectation, NeverKnowsACaseThatAnswersDifferentlyFromCallToCall) {
  std::vector<Expectation> all = {expecting("*")};
  for (const bool flaky : {true, false}) {
    ItemResult result = failed_at({"layout"});
    result.flaky = flaky;
    const auto knowing = match_expectations(all, item_of(Item::legal, "one"), 3, result);
    EXPECT_EQ(expected_kind(result), flaky ? "flaky" : "fail");
    for (const Expectation* e : knowing) EXPECT_EQ(e == nullptr, flaky);
  }
  EXPECT_EQ(all[0].matched, 1);
}

// A whole run of seed 1 at tier 1 in which cases of relu violate `layout`, for rows to change.
Report counted(const std::vector<std::string>& ids) {
  Report r;
  r.counts.executed = 9;
  Expectation e = expecting("layout");
  e.tier = 1, e.count = 2;
  Outputs expected;
  for (const char* id : {"a", "b"}) expected.add(sha256(id));
  e.ids = expected.sum;
  r.expectations = {e};
  for (const std::string& id : ids)
    match_expectations(r.expectations, item_of(Item::legal, id), 3, failed_at({"layout"}));
  return r;
}

TEST(Expectation, ThatCountsCasesTellsWhereOthersFail) {
  const std::string place = "known.toml:1 (relu layout) ", more = "counts 2 failures, there are 3",
                    others = "counts 2 failures, and others fail",
                    fewer = "counts 2 failures, there are 1";
  const std::tuple<std::vector<std::string>, void (*)(Report&), std::string, std::string> rows[] = {
      {{"b", "a"}, [](Report&) {}, "", ""}, {{"a", "b", "c"}, [](Report&) {}, more, ""},
      {{"a", "c"}, [](Report&) {}, others, ""}, {{"a"}, [](Report&) {}, "", fewer},
      {{"a", "c"}, [](Report& r) { r.tier = 2; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.seed = 2; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.seed = r.expectations[0].seed = 2; }, others, ""},
      {{"a", "c"}, [](Report& r) { r.chosen.nonce = "x"; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.chosen.cases = {"a"}; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.counts.missing = 1; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.part.of = 2; }, "", ""},
      {{"a", "c"}, [](Report& r) { r.chosen.operators = {"relu"}; }, others, ""},
      {{"a", "c"}, [](Report& r) { r.chosen.operators = {"sum"}; }, "", ""},
      {{"a", "c"},
          [](Report& r) {
            r.expectations[0].op = "re*";
            r.chosen.operators = {"relu"};
          },
          "", ""}};
  for (const auto& [ids, change, says, is_stale] : rows) {
    Report r = counted(ids);
    change(r);
    const std::string what = testing::PrintToString(ids) + says;
    EXPECT_EQ(exceeded(r), says.empty() ? std::vector<std::string>() : std::vector{place + says})
        << what;
    EXPECT_EQ(
        stale(r), is_stale.empty() ? std::vector<std::string>() : std::vector{place + is_stale})
        << what;
  }
}

TEST(Expectation, ThatIsExceededFailsTheRun) {
  Report r = counted({"a", "c"});
  r.counts.passed = 7, r.counts.failed = r.known.failed = 2;
  r.cells["relu"]["layout"] = {9, 2};
  conclude(r);
  EXPECT_EQ(r.verdict, "FAIL");
  r.expectations[0].ids = r.expectations[0].seen.sum;
  conclude(r);
  EXPECT_EQ(r.verdict, "PASS");
  EXPECT_EQ(r.exit, Exit::known_failures);
}

TEST(Expectation, IsStaleForThePartsOfWhichItExcusesNothing) {
  for (const char* kind : {"fail", "crash"}) {
    Report r;
    r.counts.executed = 2;
    r.expectations = {expecting("*", "", kind)};
    r.expectations[0].op = "*";
    ItemResult failing = failed_at({"layout"}), passing = failed_at({});
    if (kind[0] == 'c') failing.outcome = Outcome::crashed;
    Item sum = item_of(Item::legal, "two");
    sum.call.op = find_operator("sum");
    match_expectations(r.expectations, item_of(Item::legal, "one"), 3, failing);
    match_expectations(r.expectations, sum, 4, passing);
    const std::string parts = kind[0] == 'c' ? "sum" : "sum, alignment, infers";
    EXPECT_EQ(stale(r), std::vector{"known.toml:1 (* *) excuses nothing of " + parts});
    r.part.of = 2;
    EXPECT_EQ(stale(r), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace lockstep::judge
