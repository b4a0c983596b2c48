// Answers that come back from a laboratory as a file.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
Words of_selection(const Words& words, const Words& more = {}) {
  return joined(words, words_in("--op relu,sum --tier 0", more));
}

Ended asked(const Words& words, const Words& more = {}) {
  return lockstep_says(of_selection(words, more));
}

// The laboratory: a command that answers calls, wrongly where an output begins with 0.
const std::string kCommand =
    program() + " eval --backend reference --cases - | sed -u 's/\"data\":\\[0/\"data\":[1/'";

// The answers of the laboratory to the selection.
const Words& answers() {
  static const Words all = [] {
    const Ended calls = asked({"emit"});
    EXPECT_EQ(calls.exit, 0) << calls.err;
    return lines_of(run({"/bin/sh", "-c", kCommand}, calls.out).out);
  }();
  return all;
}

// The report of a run, without the members that name the adapter.
json report_of(const std::string& backend) {
  json report = judged(of_selection({"check", backend, "--no-shrink", "--property",
                           "matches_reference,matches_vectors,rejects,infers"}))
                    .report;
  report.erase("backend");
  for (json& f : report["failures"]) f.erase("repeat");
  return report;
}

using Results = ScratchTest;

TEST_F(Results, AreJudgedAsALiveRunIs) {
  ASSERT_GT(answers().size(), 100u);
  const std::string file = scratch.write("answers.jsonl", text_of_lines(answers()));
  const json live = report_of("exec:" + kCommand), recorded = report_of("results:" + file);
  EXPECT_EQ(live, recorded);
  EXPECT_EQ(live["verdict"], "FAIL") << "the laboratory is wrong, and both must see it";
  EXPECT_GT(live["failures"].size(), 1u);
  EXPECT_GT(live["counts"]["passed"], 0);
}

TEST_F(Results, MayComeInAnyOrderWithBlankLinesAndOtherSpellings) {
  Words other = answers();
  std::reverse(other.begin(), other.end());
  other.insert(other.begin() + 3, " \r");
  for (std::string& line : other)
    for (std::size_t at = 0; (at = line.find('/', at)) != std::string::npos; at += 2)
      line.insert(at, "\\");
  EXPECT_EQ(report_of("results:" + scratch.write("a", text_of_lines(answers()))),
      report_of("results:" + scratch.write("b", text_of_lines(other))));
}

TEST_F(Results, ThatLackAnswersAreIncompleteAndSayWhich) {
  Words some = answers();
  const std::string first = json::parse(some[0])["id"];
  some.erase(some.begin(), some.begin() + 25);
  const std::string file = scratch.write("answers.jsonl", text_of_lines(some));
  const Judged c = judged(of_selection({"check", "--results", file}));
  expect_end(c.end, 3, {"INCOMPLETE", "missing: " + first + "\n", "missing: 5 more\n"});
  EXPECT_EQ(c.count("missing"), 25);
  ASSERT_EQ(c.report["missing"].size(), 20u);
  EXPECT_EQ(c.report["missing"][0], first);
  expect_end(of_selection({"check", "--results", scratch.write("empty", "")}), 3, {" 0 executed"});
}

TEST_F(Results, AreNotAskedTwice) {
  const Words property = {"--property", "deterministic"};
  const std::string calls = asked({"emit"}, property).out;
  const std::string file = scratch.write("answers.jsonl", lockstep_says({"eval"}, {}, calls).out);
  // A single answer cannot show determinism.
  expect_end(of_selection({"check", "--results", file}, property), 3);
}

TEST_F(Results, AreShownByRepro) {
  const std::string file = "results:" + scratch.write("answers.jsonl", text_of_lines(answers()));
  std::string id;  // of a legal call by its case id, not of a vector
  for (const std::string& line : answers())
    if (const json a = json::parse(line); id.find('/') == std::string::npos && a["status"] == "ok")
      id = a["id"];
  const Ended e = lockstep_says({"repro", file, id, "--property", "matches_reference"});
  expect_contains(e.out, "got       output 0: ");
  expect_contains(e.out, "matches_reference");
  expect_end({"repro", file, "relu/in=7@8/fill=zero:7"}, 2,
      {"has no answer to 'relu/in=7@8/fill=zero:7'"});
}

TEST_F(Results, ThatAreNoneAreRefusedByLine) {
  const std::string good = answers()[0] + "\n";
  const std::pair<std::string, std::string> rows[] = {
      {"{\"id\":\"x", "answers.jsonl' line 2: not JSON at byte"},
      {"[]\n", "line 2: not a JSON object"},
      {"\n{\"status\":\"ok\"}\n", "line 3: no identifier that emit wrote"},
      {"{\"id\":7,\"status\":\"ok\"}\n", "line 2: no identifier that emit wrote"},
      {good, "line 2: a second answer to '" + json::parse(good)["id"].get<std::string>() + "'"},
      {"{\"id\":\"take/in=1@8\"}\n",
          "line 2: the answer to 'take/in=1@8', which is no case of this selection"}};
  for (const auto& [more, why] : rows)
    expect_end(of_selection({"check", "--results", scratch.write("answers.jsonl", good + more)}), 2,
        {why});
}

TEST_F(Results, ThatCannotBeReadAreRefused) {
  const std::pair<std::string, std::string> rows[] = {{"results:", "results: needs a file"},
      {"--results /nowhere/a", "cannot read '/nowhere/a': No such file or directory"},
      {"--results /tmp", "cannot read '/tmp' to its end: Is a directory"},
      {"cpu --results /tmp/a", "a BACKEND or --results, not both"},
      {"results:/dev/null --set a=1", "takes no option 'a'"}};
  for (const auto& [line, why] : rows)
    expect_end(of_selection(joined({"check"}, words_in(line))), 2, {why});
}

// A wrong answer fails one case, as a live one does.
TEST_F(Results, WithOneThatMakesNoSenseFailInThatCase) {
  Words lines =
      lines_of(lockstep_says({"eval"}, {}, asked({"emit"}).out).out);  // all of them right
  json odd = json::parse(lines[0]);
  odd["status"] = "fine";
  lines[0] = odd.dump();
  const std::string file = scratch.write("answers.jsonl", text_of_lines(lines));
  // The selection does not ask for the other answers.
  expect_end({"check", "--results", file, "--case", odd["id"]}, 2);
  const Judged all = judged(of_selection({"check", "--results", file}));
  expect_end(all.end, 1);
  ASSERT_EQ(all.count("failed"), 1);
  EXPECT_EQ(all.report["failures"][0]["case"], odd["id"]);
  const Ended one = lockstep_says({"repro", "results:" + file, odd["id"]});
  expect_contains(one.out, "the line is not an answer (status 'fine' is none)");
}

}  // namespace
}  // namespace lockstep::judge
