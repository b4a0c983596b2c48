// What `lockstep mutants` says of mutants that die soon, that survive, and that do not exist.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

Judged mutants_of_relu(const Words& more) {
  return judged(words_in("mutants --op relu --tier 1 --timeout 20 --start-timeout 60", more));
}

TEST(MutantsVerb, JudgesByAllCasesOrUntilDeath) {
  const Judged whole = mutants_of_relu({"relu.int8"}),
               brief = mutants_of_relu({"relu.int8", "--until-dead"});
  expect_end(whole.end, 0);
  expect_end(brief.end, 0, {"1 of 1 mutants are dead at tier 1"});
  const json &all = whole.report["mutants"][0], &few = brief.report["mutants"][0];
  EXPECT_TRUE(few["dead"]);
  EXPECT_EQ(few["kills"], 1);
  EXPECT_LT(few["executed"], 200);
  EXPECT_GT(all["executed"], 200);
  EXPECT_GT(all["kills"], 1);
}

// A wrong vector fails every backend, so no mutant may count as killed by it.
TEST(MutantsVerb, AKillMeansNothingWhereTheControlFails) {
  const Scratch scratch;
  json vectors = json::parse(text_of_file("conformance/vectors/relu.json"));
  vectors["tests"] = {vectors["tests"][0]};
  vectors["numberOfTests"] = 1;
  vectors["tests"][0]["in"][0]["data"][1] = 5;
  scratch.write("relu.json", vectors.dump());
  const Words wrong = {scratch.path(""), "--property", "matches_vectors"};
  for (const Words& way : {Words{}, Words{"--until-dead"}})
    expect_end(words_in("mutants relu.* --op relu --tier 0 --vectors", joined(wrong, way)), 4,
        {"'faulty' fails without a mutant, so a kill proves nothing:"});
}

TEST(MutantsVerb, APathThatNobodyListedShowsInTheFirstCases) {
  expect_end(
      mutants_of_relu({"contract.unlisted_path", "--budget", "20"}).end, 0, {"paths_covered"});
}

TEST(MutantsVerb, MeasuresWhatAPrefixIsSaidToKill) {
  const Scratch scratch;
  const std::string kills = scratch.path("kills.json");
  expect_end(words_in("mutants relu.* --op relu --tier 0 --quiet --order", {kills}), 0);
  const Judged few = mutants_of_relu({"relu.*", "--budget", "8"});
  expect_end(few.end, 0);  // the first cases of a set kill every mutant of relu
  const json measured = json::parse(text_of_file(kills));
  EXPECT_EQ(measured["mutants"].size(), few.report["mutants"].size());
  EXPECT_LT(measured["cases"].size(), 8U);
}

TEST(MutantsVerb, SaysWhichSurvive) {
  const Judged said = mutants_of_relu({"relu.tail_4", "--case", "relu/in=4@8/data=0,0,0,0"});
  expect_end(said.end, 1, {"ALIVE  relu.tail_4", "0 of 1 mutants are dead at tier 1"});
  EXPECT_FALSE(said.report["mutants"][0]["dead"]);
}

// If only all cases together kill, the control judges all of them, including those not claimed.
TEST(MutantsVerb, JudgesWhatTheTierReaches) {
  const Judged smoke =
      judged(words_in("mutants --tier 0 --timeout 20 --start-timeout 60", {"abs.*"}));
  expect_end(smoke.end, 0, {"1 more need a higher tier and were not judged"});
  EXPECT_EQ(smoke.report["beyond"], 1);
  expect_end(words_in("mutants --tier 0 --until-dead --timeout 20 --start-timeout 60",
                 {"contract.unlisted_path"}),
      0);
}

TEST(MutantsVerb, NoMutantIsNoSuccess) {
  expect_end(mutants_of_relu({"nope"}).end, 3, {"0 of 0 mutants are dead"});
}

}  // namespace
}  // namespace lockstep::judge
