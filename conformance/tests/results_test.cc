// Answers that come back from a laboratory as a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const Words kSelection = {"--op", "relu,sum", "--tier", "0"};

Ended asked(Words words, const Words& more = {}, const std::string& input = "") {
  words.insert(words.end(), kSelection.begin(), kSelection.end());
  words.insert(words.end(), more.begin(), more.end());
  return lockstep_says(words, {}, input);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The laboratory: a command that answers calls, wrongly where an output begins with 0.
const std::string kCommand =
    program() + " eval --backend reference --cases - | sed -u 's/\"data\":\\[0/\"data\":[1/'";

// The answers of the laboratory to the selection.
const std::vector<std::string>& answers() {
  static const std::vector<std::string> all = [] {
    const Ended calls = asked({"emit"});
    EXPECT_EQ(calls.exit, 0) << calls.err;
    return lines_of(run({"/bin/sh", "-c", kCommand}, calls.out).out);
  }();
  return all;
}

// The report of a run, without what says by which door the answers came.
json report_of(const std::string& backend) {
  const Ended e = asked({"check", backend, "--no-shrink", "--json", "-"},
                        {"--property", "matches_reference,matches_vectors,rejects,infers"});
  json report = json::parse(e.out, nullptr, false);
  EXPECT_TRUE(report.is_object()) << e.out << e.err;
  report.erase("backend");
  for (json& f : report["failures"]) f.erase("repeat");
  return report;
}

TEST(Results, AreJudgedAsALiveRunIs) {
  const Scratch scratch;
  ASSERT_GT(answers().size(), 100u);
  const std::string file = scratch.write("answers.jsonl", joined(answers()));
  const json live = report_of("exec:" + kCommand), recorded = report_of("results:" + file);
  EXPECT_EQ(live, recorded);
  EXPECT_EQ(live["verdict"], "FAIL") << "the laboratory is wrong, and both must see it";
  EXPECT_GT(live["failures"].size(), 1u);
  EXPECT_GT(live["counts"]["passed"], 0);
}

TEST(Results, MayComeInAnyOrderWithBlankLinesAndOtherSpellings) {
  const Scratch scratch;
  std::vector<std::string> other = answers();
  std::reverse(other.begin(), other.end());
  other.insert(other.begin() + 3, " \r");
  for (std::string& line : other)
    for (std::size_t at = 0; (at = line.find('/', at)) != std::string::npos; at += 2)
      line.insert(at, "\\");
  EXPECT_EQ(report_of("results:" + scratch.write("a", joined(answers()))),
            report_of("results:" + scratch.write("b", joined(other))));
}

TEST(Results, ThatLackAnswersAreIncompleteAndSayWhich) {
  const Scratch scratch;
  std::vector<std::string> some = answers();
  const std::string first = json::parse(some[0])["id"];
  some.erase(some.begin(), some.begin() + 25);
  const std::string file = scratch.write("answers.jsonl", joined(some));
  const Ended e = asked({"check", "--results", file, "--json", scratch.path("report.json")});
  EXPECT_EQ(e.exit, 3) << e.out << e.err;
  expect_contains(e.out, "INCOMPLETE");
  expect_contains(e.out, "missing: " + first + "\n");
  expect_contains(e.out, "missing: 5 more\n");
  const json report = json::parse(text_of_file(scratch.path("report.json")));
  EXPECT_EQ(report["counts"]["missing"], 25);
  ASSERT_EQ(report["missing"].size(), 20u);
  EXPECT_EQ(report["missing"][0], first);
  const Ended none = asked({"check", "--results", scratch.write("empty", "")});
  EXPECT_EQ(none.exit, 3) << none.out << none.err;
  expect_contains(none.out, " 0 executed");
}

TEST(Results, AreNotAskedTwice) {
  const Scratch scratch;
  const std::vector<std::string> property = {"--property", "deterministic"};
  const std::string calls = asked({"emit"}, property).out;
  const std::string file = scratch.write("answers.jsonl", lockstep_says({"eval"}, {}, calls).out);
  const Ended e = asked({"check", "--results", file}, property);
  EXPECT_EQ(e.exit, 3) << "one answer shows nothing of a second\n" << e.out << e.err;
}

TEST(Results, AreShownByRepro) {
  const Scratch scratch;
  const std::string file = "results:" + scratch.write("answers.jsonl", joined(answers()));
  std::string id;  // of a legal call that spells itself out: a vector's is judged as a vector
  for (const std::string& line : answers())
    if (const json a = json::parse(line); id.find('/') == std::string::npos && a["status"] == "ok")
      id = a["id"];
  const Ended e = lockstep_says({"repro", file, id, "--property", "matches_reference"});
  expect_contains(e.out, "got       output 0: ");
  expect_contains(e.out, "matches_reference");
  const Ended none = lockstep_says({"repro", file, "relu/in=7@8/fill=zero:7"});
  EXPECT_EQ(none.exit, 2) << none.out;
  expect_contains(none.err, "has no answer to 'relu/in=7@8/fill=zero:7'");
}

TEST(Results, ThatAreNoneAreRefusedByLine) {
  const Scratch scratch;
  const std::string good = answers()[0] + "\n";
  const auto expect_refusal = [&](const std::string& text, const std::string& why) {
    const Ended e = asked({"check", "--results", scratch.write("answers.jsonl", text)});
    EXPECT_EQ(e.exit, 2) << e.out << e.err;
    expect_contains(e.err, why);
  };
  expect_refusal(good + "{\"id\":\"x", "answers.jsonl' line 2: not JSON at byte");
  expect_refusal(good + "[]\n", "line 2: not a JSON object");
  expect_refusal(good + "\n{\"status\":\"ok\"}\n", "line 3: no identifier that emit wrote");
  expect_refusal(good + "{\"id\":7,\"status\":\"ok\"}\n", "line 2: no identifier that emit wrote");
  expect_refusal(good + good,
                 "line 2: a second answer to '" + json::parse(good)["id"].get<std::string>() + "'");
  expect_refusal(good + "{\"id\":\"take/in=1@8\"}\n",
                 "line 2: the answer to 'take/in=1@8', which is no case of this selection");
}

TEST(Results, ThatCannotBeReadAreRefused) {
  const auto expect_usage = [](const Words& words, const std::string& why) {
    const Ended e = asked(words);
    EXPECT_EQ(e.exit, 2) << e.out << e.err;
    expect_contains(e.err, why);
  };
  expect_usage({"check", "results:"}, "results: needs a file");
  expect_usage({"check", "--results", "/nowhere/a"}, "cannot read '/nowhere/a'");
  expect_usage({"check", "--results", "/tmp"}, "cannot read '/tmp'");
  expect_usage({"check", "cpu", "--results", "/tmp/a"}, "a BACKEND or --results, not both");
  expect_usage({"check", "results:/dev/null", "--set", "a=1"}, "takes no option 'a'");
}

// What is wrong with an answer is wrong with one case, as it is with a live one.
TEST(Results, WithOneThatMakesNoSenseFailInThatCase) {
  const Scratch scratch;
  std::vector<std::string> lines =
      lines_of(lockstep_says({"eval"}, {}, asked({"emit"}).out).out);  // all of them right
  json odd = json::parse(lines[0]);
  odd["status"] = "fine";
  lines[0] = odd.dump();
  const std::string file = scratch.write("answers.jsonl", joined(lines));
  const Ended e = lockstep_says({"check", "--results", file, "--case", odd["id"]});
  EXPECT_EQ(e.exit, 2) << "the other answers were not asked for";
  const Ended all = asked({"check", "--results", file, "--json", scratch.path("report.json")});
  EXPECT_EQ(all.exit, 1) << all.out << all.err;
  const json report = json::parse(text_of_file(scratch.path("report.json")));
  ASSERT_EQ(report["counts"]["failed"], 1);
  EXPECT_EQ(report["failures"][0]["case"], odd["id"]);
  const Ended one = lockstep_says({"repro", "results:" + file, odd["id"]});
  expect_contains(one.out, "an answer that is none (status 'fine' is none)");
}

}  // namespace
}  // namespace lockstep::judge
