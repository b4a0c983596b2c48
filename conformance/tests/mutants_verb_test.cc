// What `lockstep mutants` says of mutants that die soon, that survive, and that do not exist.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

struct Said : Ended {
  json report;
};

Said mutants_say(const std::vector<std::string>& more) {
  const Scratch scratch;
  std::vector<std::string> words = {"mutants",
                                    "--op",
                                    "relu",
                                    "--tier",
                                    "1",
                                    "--timeout",
                                    "20",
                                    "--start-timeout",
                                    "60",
                                    "--json",
                                    scratch.path("fates")};
  words.insert(words.end(), more.begin(), more.end());
  const Ended e = lockstep_says(words);
  return {e, json::parse(text_of_file(scratch.path("fates")))};
}

TEST(MutantsVerb, JudgesByAllCasesOrUntilDeath) {
  const Said whole = mutants_say({"relu.int8"}), brief = mutants_say({"relu.int8", "--until-dead"});
  EXPECT_EQ(whole.exit, 0) << whole.err;
  EXPECT_EQ(brief.exit, 0) << brief.err;
  expect_contains(brief.out, "1 of 1 mutants are dead at tier 1");
  const json &all = whole.report["mutants"][0], &few = brief.report["mutants"][0];
  EXPECT_TRUE(few["dead"]);
  EXPECT_EQ(few["kills"], 1);
  EXPECT_LT(few["executed"], 200);
  EXPECT_GT(all["executed"], 200);
  EXPECT_GT(all["kills"], 1);
}

TEST(MutantsVerb, APathThatNobodyListedShowsInTheFirstCases) {
  const Said said = mutants_say({"duty.unlisted_path", "--budget", "20"});
  EXPECT_EQ(said.exit, 0) << said.out;
  expect_contains(said.out, "paths_covered");
}

TEST(MutantsVerb, MeasuresWhatAPrefixIsSaidToKill) {
  const Scratch scratch;
  const std::string kills = scratch.path("kills.json");
  const Ended order = lockstep_says(
      {"mutants", "relu.*", "--op", "relu", "--tier", "0", "--order", kills, "--quiet"});
  EXPECT_EQ(order.exit, 0) << order.out << order.err;
  const Said few = mutants_say({"relu.*", "--budget", "8"});
  EXPECT_EQ(few.exit, 0) << "the first cases of a set kill every mutant of relu\n" << few.out;
  const json measured = json::parse(text_of_file(kills));
  EXPECT_EQ(measured["mutants"].size(), few.report["mutants"].size());
  EXPECT_LT(measured["cases"].size(), 8U);
}

TEST(MutantsVerb, SaysWhichSurvive) {
  const Said said = mutants_say({"relu.tail_4", "--case", "relu/in=4@8/data=0,0,0,0"});
  EXPECT_EQ(said.exit, 1) << said.err;
  expect_contains(said.out, "ALIVE  relu.tail_4");
  expect_contains(said.out, "0 of 1 mutants are dead at tier 1");
  EXPECT_FALSE(said.report["mutants"][0]["dead"]);
}

TEST(MutantsVerb, NoMutantIsNoSuccess) {
  const Said said = mutants_say({"nope"});
  EXPECT_EQ(said.exit, 3) << said.err;
  expect_contains(said.out, "0 of 0 mutants are dead");
}

}  // namespace
}  // namespace lockstep::judge
