// The search for failures, and what is frozen of its findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/cases/case.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A shift that rounds ties away from zero: most calls do not show it.
const std::vector<std::string> kMistaken = {"faulty", "--set", "mutant=cvm_right_shift.ties_away"};

Ended searched(const std::string& directory, std::vector<std::string> backend,
               const std::string& op, std::vector<std::string> more) {
  std::vector<std::string> words = {"fuzz", "--state", directory, "--op",
                                    op,     "--quiet", "--jobs",  "2"};
  words.insert(words.begin() + 1, backend.begin(), backend.end());
  words.insert(words.end(), more.begin(), more.end());
  return lockstep_says(words);
}

json state_of(const std::string& directory) {
  return json::parse(text_of_file(directory + "/state.json"));
}

TEST(Fuzz, ShrinksAndSavesWhatItFinds) {
  const Scratch scratch;
  const std::string directory = scratch.path("search");
  const Ended e = searched(directory, kMistaken, "cvm_right_shift",
                           {"--count", "600", "--property", "matches_reference"});
  EXPECT_EQ(e.exit, 1) << e.out << e.err;
  expect_contains(e.out, "cvm_right_shift violates matches_reference");
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
  EXPECT_EQ(again.exit, 1) << again.out << again.err;
  expect_contains(again.out, "violates  matches_reference");
}

// The calls that reach the processes of a backend, in any order, without their identifiers.
std::vector<std::string> calls_in(const std::string& logs) {
  std::vector<std::string> calls;
  for (const auto& log : fs::directory_iterator(logs))
    for (const std::string& line : lines_of(text_of_file(log.path())))
      calls.push_back(line.substr(line.find(",\"op\"")));
  std::sort(calls.begin(), calls.end());
  return calls;
}

TEST(Fuzz, GoesOnWhereItEndedAndDoesNotRepeatItself) {
  const Scratch scratch;
  const auto searched_in = [&](const std::string& name, const char* count) {
    fs::create_directory(scratch.path(name + ".log"));
    // A log has a question before the backend has it: a run's end cuts none off. Each process has
    // a log of its own: a shell writes a line in pieces.
    const std::string log = "while IFS= read -r q; do printf '%s\\n' \"$q\" >> '" +
                            scratch.path(name + ".log") + "'/$$; printf '%s\\n' \"$q\"; done";
    const std::string backend =
        "exec:" + log + " | " + program() + " eval --backend reference --cases -";
    return searched(scratch.path(name), {backend}, "relu,take",
                    {"--count", count, "--property", "matches_reference,rejects"});
  };
  EXPECT_EQ(searched_in("parts", "150").exit, 0);
  const Ended second = searched_in("parts", "250");
  EXPECT_EQ(second.exit, 0) << second.out << second.err;
  expect_contains(second.out, "numbers 150 to 399 of 2 operators");
  EXPECT_EQ(searched_in("whole", "400").exit, 0);
  EXPECT_EQ(state_of(scratch.path("parts"))["next"], 400);
  EXPECT_EQ(state_of(scratch.path("parts"))["executed"],
            state_of(scratch.path("whole"))["executed"]);
  std::vector<std::string> calls = calls_in(scratch.path("parts.log"));
  EXPECT_EQ(calls, calls_in(scratch.path("whole.log"))) << "how it is cut changes no call";
  // The smallest calls are few, and may come again by chance.
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  EXPECT_GT(calls.size(), 380u) << "hardly a call is put twice";
}

TEST(Fuzz, SavesAFindingOnce) {
  const Scratch scratch;
  const std::string directory = scratch.path("search");
  const std::vector<std::string> wrong = {"faulty", "--set", "mutant=relu.int8"};
  const std::vector<std::string> more = {"--count", "200", "--property", "matches_reference"};
  EXPECT_EQ(searched(directory, wrong, "relu", more).exit, 1);
  const Ended again = searched(directory, wrong, "relu", more);
  EXPECT_EQ(again.exit, 1) << "what was found stays found";
  const json state = state_of(directory);
  EXPECT_EQ(state["tried"]["relu matches_reference"], 2);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(directory))
    files += entry.path().filename() != "state.json";
  EXPECT_EQ(files, state["findings"].size());
}

TEST(Fuzz, EndsWhenItsTimeIsUp) {
  const Scratch scratch;
  const Ended e = searched(scratch.path("s"), {"reference"}, "*", {"--time", "1s"});
  EXPECT_EQ(e.exit, 0) << e.out << e.err;
  EXPECT_GT(state_of(scratch.path("s"))["executed"], 0);
}

TEST(Fuzz, ThatExecutesNothingIsIncomplete) {
  const Scratch scratch;
  const Ended e = searched(scratch.path("s"), {hostile("device")}, "sum", {"--count", "50"});
  EXPECT_EQ(e.exit, 3) << e.out << e.err;
  expect_contains(e.out, "0 executed");
}

TEST(Fuzz, RefusesWhatItDoesNotUnderstand) {
  const Scratch scratch;
  const std::string directory = scratch.path("s");
  const auto expect_usage = [&](std::vector<std::string> more, const std::string& why) {
    const Ended e = searched(directory, {"reference"}, "relu", std::move(more));
    EXPECT_EQ(e.exit, 2) << e.out << e.err;
    expect_contains(e.err, why);
  };
  for (const char* time : {"soon", "0", "-1s", "1e99h", "10x", ""})
    expect_usage({"--time", time}, "--time");
  expect_usage({"--property", "nope"}, "no property 'nope'");
  EXPECT_FALSE(fs::exists(directory)) << "nothing began";
  EXPECT_EQ(searched(directory, {"reference"}, "relu", {"--count", "10"}).exit, 0);
  expect_usage({"--count", "10", "--seed", "2"}, "is a search with seed 1, not 2");
  std::ofstream(directory + "/state.json") << "{\"schema\":1}";
  expect_usage({"--count", "10"}, "state.json' is none that this program wrote");
  expect_usage({"--count", "10", "--state", "/proc/nowhere"}, "--state");
}

TEST(Fuzz, FindingsAreFrozenWithWhereTheyComeFrom) {
  const Scratch scratch;
  const std::string directory = scratch.path("search"), set = scratch.path("set");
  searched(directory, kMistaken, "cvm_right_shift",
           {"--count", "600", "--property", "matches_reference"});
  const std::string file = directory + "/" + state_of(directory)["findings"][0].get<std::string>();
  fs::create_directory(set);
  fs::copy(build_directory() / "share" / "lockstep" / "vectors" / "cvm_right_shift.json", set);
  const Ended added = lockstep_says({"vectors", "add", set, file});
  ASSERT_EQ(added.exit, 0) << added.out << added.err;
  const std::string id = added.out.substr(0, added.out.find(' '));
  expect_contains(text_of_file(set + "/cvm_right_shift.json"),
                  "matches_reference fails in faulty 0.1.0, found by fuzz");
  EXPECT_EQ(lockstep_says({"repro", "reference", id, "--vectors", set}).exit, 0);
  const Ended caught = lockstep_says(
      {"repro", "faulty", id, "--vectors", set, "--set", "mutant=cvm_right_shift.ties_away"});
  EXPECT_EQ(caught.exit, 1) << caught.out << caught.err;
  expect_contains(caught.out, "violates  matches_vectors");
  expect_contains(lockstep_says({"vectors", "add", set, file}).out, "there already");
}

TEST(Fuzz, OnlyCallsThatCanBeWrittenAreFrozen) {
  const Scratch scratch;
  const auto expect_usage = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), {"vectors", "add", scratch.path("")});
    const Ended e = lockstep_says(words);
    EXPECT_EQ(e.exit, 2) << e.out << e.err;
    expect_contains(e.err, why);
  };
  expect_usage({"relu/in=1@8/data=1"}, "a case needs --comment");
  expect_usage({"relu/in=1025@8/fill=dense:1", "--comment", "x"}, "1024 values at most");
  expect_usage({"relu/in=1", "--comment", "x"}, "no shape@precision");
  expect_usage({scratch.write("f.json", "{}")}, "f.json' is none that this program wrote");
  fs::remove(scratch.path("f.json"));
  const Ended illegal =
      lockstep_says({"vectors", "add", scratch.path(""), "relu/in=0@8", "--comment", "nothing"});
  EXPECT_EQ(illegal.exit, 0) << illegal.err;
  expect_contains(text_of_file(scratch.path("relu.json")), "\"label\":\"input.extent\"");
}

}  // namespace
}  // namespace lockstep::judge
