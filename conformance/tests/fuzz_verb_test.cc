// The search for failures, and vectors made from its findings.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/cases/case.h"
#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A shift that rounds ties away from zero: most calls do not show it.
const std::string kTies = "faulty --set mutant=cvm_right_shift.ties_away",
                  kShift = "--op cvm_right_shift --count 600 --property matches_reference";

Ended searched(const std::string& directory, const Words& backend, const std::string& more) {
  return lockstep_says(joined(
      joined({"fuzz"}, backend), words_in(more, {"--state", directory, "--quiet", "--jobs", "2"})));
}

json state_of(const std::string& directory) {
  return json::parse(text_of_file(directory + "/state.json"));
}

class Fuzz : public ScratchTest {
 protected:
  const std::string directory = scratch.path("search");
};

TEST_F(Fuzz, ShrinksAndSavesWhatItFinds) {
  expect_end(searched(directory, words_in(kTies), kShift), 1,
      {"cvm_right_shift violates matches_reference"});
  const json state = state_of(directory);
  ASSERT_FALSE(state["findings"].empty());
  const std::string file = directory + "/" + state["findings"][0].get<std::string>();
  const json finding = json::parse(text_of_file(file));
  EXPECT_EQ(finding["property"], "matches_reference");
  EXPECT_EQ(finding["backend"], "faulty 0.1.0");
  const Case small = parse_case(finding["case"]);
  EXPECT_EQ(small.fill, Fill::literal) << finding["case"];
  EXPECT_NE(finding["case"], finding["found"]);
  const Ended again = run({"/bin/sh", "-c",
      "PATH=" + fs::path(program()).parent_path().string() + ":$PATH; " +
          finding["repeat"].get<std::string>()});
  expect_end(again, 1, {"violates  matches_reference"});
}

// The calls that reach the processes of a backend, in any order, without their identifiers.
std::vector<std::string> calls_in(const std::string& logs) {
  std::vector<std::string> calls;
  for (const auto& log : fs::directory_iterator(logs))
    for (const std::string& line : lines_of(text_of_file(log.path())))
      if (line.find("\"manifest\"") == line.npos)
        calls.push_back(line.substr(line.find(",\"op\"")));
  std::sort(calls.begin(), calls.end());
  return calls;
}

TEST_F(Fuzz, GoesOnWhereItEndedAndDoesNotRepeatItself) {
  const auto searched_in = [&](const std::string& name, const std::string& count) {
    fs::create_directory(scratch.path(name + ".log"));
    // The log receives a question before the backend does, so the end of a run cuts none off. Each
    // process has a log of its own, because a shell writes a line in pieces.
    const std::string log = "while IFS= read -r q; do printf '%s\\n' \"$q\" >> '" +
        scratch.path(name + ".log") + "'/$$; printf '%s\\n' \"$q\"; done";
    const std::string backend =
        "exec:" + log + " | " + program() + " eval --backend reference --cases -";
    return searched(scratch.path(name), {backend},
        "--op relu,take --property matches_reference,rejects --count " + count);
  };
  expect_end(searched_in("parts", "150"), 0);
  expect_end(searched_in("parts", "250"), 0, {"numbers 150 to 399 of 2 operators"});
  expect_end(searched_in("whole", "400"), 0);
  EXPECT_EQ(state_of(scratch.path("parts"))["next"], 400);
  EXPECT_EQ(
      state_of(scratch.path("parts"))["executed"], state_of(scratch.path("whole"))["executed"]);
  std::vector<std::string> calls = calls_in(scratch.path("parts.log"));
  EXPECT_EQ(calls, calls_in(scratch.path("whole.log"))) << "how it is cut changes no call";
  // There are few smallest calls, so they may come again by chance.
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  EXPECT_GT(calls.size(), 380u) << "hardly a call is put twice";
}

TEST_F(Fuzz, SavesAFindingOnce) {
  // The state keeps earlier findings.
  for (int times = 0; times < 2; ++times)
    expect_end(searched(directory, words_in("faulty --set mutant=relu.int8"),
                   "--op relu --count 200 --property matches_reference"),
        1);
  const json state = state_of(directory);
  EXPECT_EQ(state["tried"]["relu matches_reference"], 2);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(directory))
    files += entry.path().filename() != "state.json";
  EXPECT_EQ(files, state["findings"].size());
}

TEST_F(Fuzz, ThatExecutesNothingIsIncomplete) {
  expect_end(searched(directory, {hostile("device")}, "--op sum --count 50"), 3, {"0 executed"});
}

TEST_F(Fuzz, RefusesWhatItDoesNotUnderstand) {
  const auto expect_usage = [&](const std::string& more, const std::string& why) {
    expect_end(searched(directory, {"reference"}, "--op relu " + more), 2, {why});
  };
  expect_usage("--time soon", "--time");
  expect_usage("--property nope", "no property 'nope'");
  EXPECT_FALSE(fs::exists(directory)) << "nothing began";
  expect_end(searched(directory, {"reference"}, "--op relu --count 10"), 0);
  expect_usage("--count 10 --seed 2", "is a search with seed 1, not 2");
  std::ofstream(directory + "/state.json") << "{\"schema\":1}";
  expect_usage("--count 10", "state.json' was not written by lockstep fuzz");
  expect_usage("--count 10 --state /proc/nowhere", "--state");
}

TEST_F(Fuzz, FindingsAreFrozenWithWhereTheyComeFrom) {
  const std::string set = scratch.path("set");
  searched(directory, words_in(kTies), kShift);
  const std::string file = directory + "/" + state_of(directory)["findings"][0].get<std::string>();
  fs::create_directory(set);
  fs::copy(build_directory() / "share" / "lockstep" / "vectors" / "cvm_right_shift.json", set);
  const Ended added = lockstep_says({"vectors", "add", set, file});
  ASSERT_EQ(added.exit, 0) << added.out << added.err;
  const std::string id = added.out.substr(0, added.out.find(' '));
  expect_contains(text_of_file(set + "/cvm_right_shift.json"),
      "matches_reference fails in faulty 0.1.0, found by fuzz");
  EXPECT_EQ(lockstep_says({"repro", "reference", id, "--vectors", set}).exit, 0);
  expect_end(
      joined({"repro"}, words_in(kTies, {id, "--vectors", set})), 1, {"violates  matches_vectors"});
  expect_contains(lockstep_says({"vectors", "add", set, file}).out, "there already");
}

TEST_F(Fuzz, OnlyCallsThatCanBeWrittenAreFrozen) {
  const auto add = [&](const std::string& more) {
    return joined({"vectors", "add", scratch.path("")}, words_in(more));
  };
  const std::pair<std::string, std::string> rows[] = {
      {"relu/in=1@8/data=1", "a case needs --comment"},
      {"relu/in=1025@8/fill=dense:1 --comment x", "1024 values at most"},
      {"relu/in=1 --comment x", "no shape@precision"},
      {scratch.write("f.json", "{}"), "f.json' was not written by lockstep fuzz"}};
  for (const auto& [line, why] : rows) expect_end(add(line), 2, {why});
  fs::remove(scratch.path("f.json"));
  expect_end(add("relu/in=0@8 --comment nothing"), 0);
  expect_contains(text_of_file(scratch.path("relu.json")), "\"label\":\"input.extent\"");
}

}  // namespace
}  // namespace lockstep::judge
