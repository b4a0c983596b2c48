// Runs compared, put together and witnessed, by the program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/base/sha256.h"
#include "conformance/selection/select.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const Words kSmall = {"--tier", "0", "--op", "relu,sum", "--quiet"};

Ended says(Words words, const Words& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  return lockstep_says(words);
}

// The report of a backend, as a file.
std::string report(const Scratch& scratch, const std::string& backend, const Words& more = {}) {
  std::string file = scratch.path(backend + std::to_string(more.size()) + ".json");
  Words words = kSmall;
  words.insert(words.end(), more.begin(), more.end());
  says({"check", backend, "--no-shrink", "--json", file}, words);
  return file;
}

TEST(DiffVerb, TellsResultsFromTheRest) {
  const Scratch scratch;
  const std::string right = report(scratch, "reference"), wrong = report(scratch, "null");
  const Ended same = says({"diff", right, right});
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_EQ(same.out, "0 differences of results; exit 0 (pass)\n");
  const Ended other = says({"diff", right, wrong});
  EXPECT_EQ(other.exit, 1);
  for (const char* text : {"verdict: PASS -> FAIL\n", "relu matches_reference fails now: ",
                           "outputs of sum: ", "(not a result) backend: reference "})
    expect_contains(other.out, text);
  EXPECT_EQ(says({"diff", right, scratch.write("no.json", "{}")}).exit, 2);
}

TEST(DigestVerb, IsTheLineOfTheReportToo) {
  const Scratch scratch;
  const Ended line = says({"digest", "reference"}, kSmall);
  EXPECT_EQ(line.exit, 0) << line.err;
  EXPECT_EQ(says({"report", "digest", report(scratch, "reference")}).out, line.out);
  EXPECT_EQ(says({"digest", "exec:lockstep eval --backend reference --cases -", "--jobs", "1",
                  "--timeout", "20", "--start-timeout", "20"},
                 kSmall)
                .out,
            line.out);
  EXPECT_NE(says({"digest", "null"}, kSmall).out, line.out);
  const Ended dead = says({"digest", "exec:true"}, kSmall);
  EXPECT_EQ(dead.exit, 1) << dead.out;
  expect_contains(dead.err, "crashed, hung or were left out");
}

TEST(AgreeVerb, ComparesDevices) {
  const Scratch scratch;
  const std::string right = report(scratch, "reference"), wrong = report(scratch, "null"),
                    other = report(scratch, "reference", {"--seed", "2"});
  const Ended same = says({"report", "agree", right, right, right});
  EXPECT_EQ(same.exit, 0) << same.err;
  expect_contains(same.out, "PASS  D3: the same outputs on 3 devices");
  const Ended differing = says({"report", "agree", right, wrong});
  EXPECT_EQ(differing.exit, 1);
  expect_contains(differing.out, "' differ in relu, sum\nFAIL  D3");
  const Ended unlike = says({"report", "agree", right, wrong, other});
  EXPECT_EQ(unlike.exit, 3);
  expect_contains(unlike.out, "are not about the same calls\nINCOMPLETE  D3");
  EXPECT_EQ(says({"report", "agree", right}).exit, 2);
}

TEST(MergeVerb, GivesTheWholeReportAndItsVerdict) {
  const Scratch scratch;
  const std::string wrong = report(scratch, "null"), merged = scratch.path("merged.json");
  const Ended e = says({"report", "merge", wrong, "--output", merged});
  EXPECT_EQ(e.exit, 1) << e.err;
  expect_contains(e.out, "FAIL  null");
  const Ended twice = says({"report", "merge", wrong, wrong, "--output", merged});
  EXPECT_EQ(twice.exit, 2);
  expect_contains(twice.err, "are both part 1 of 1");
}

Ended attest(const std::string& backend, const std::string& directory) {
  return says({"report", "attest", backend, directory, "--nonce", "n"}, kSmall);
}

TEST(AttestVerb, WritesWhatVerifyWitnesses) {
  const Scratch scratch;
  const std::string directory = scratch.path("evidence");
  const Ended written = attest("reference", directory);
  EXPECT_EQ(written.exit, 0) << written.err;
  expect_contains(written.out, "SELF-DECLARED");
  const Ended alone = says({"report", "verify", directory, "--nonce", "n"});
  EXPECT_EQ(alone.exit, 0) << alone.out << alone.err;
  expect_contains(alone.out, "SELF-DECLARED  nothing was run again");
  const Ended again =
      says({"report", "verify", directory, "reference", "--rerun", "40", "--quiet"});
  EXPECT_EQ(again.exit, 0) << again.out << again.err;
  expect_contains(again.out, "run again: 40 of ");
  expect_contains(again.out, "WITNESSED");
  const Ended old = says({"report", "verify", directory, "--nonce", "m"});
  EXPECT_EQ(old.exit, 1);
  expect_contains(old.out, "refuted: the nonce is another one");
  const Ended other = says({"report", "verify", directory, "null", "--rerun", "9", "--quiet"});
  EXPECT_EQ(other.exit, 1);
  expect_contains(other.out, "'null' is another file than the one that was judged");
  EXPECT_EQ(attest("reference", directory).exit, 2) << "evidence is not overwritten";
  EXPECT_EQ(says({"report", "verify", directory, "--rerun", "9"}).exit, 2) << "by which backend?";
  expect_contains(attest("exec:true", scratch.path("command")).err, "--subject FILE");
  EXPECT_EQ(attest(scratch.write("text.so", "hello"), scratch.path("none")).exit, 2);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("none"))) << "there is no evidence";
}

TEST(AttestVerb, WritesEvidenceOfACrash) {
  const Scratch scratch;
  const std::string directory = scratch.path("evidence");
  EXPECT_EQ(attest(hostile("exits"), directory).exit, 1);
  const Ended alone = says({"report", "verify", directory});
  EXPECT_EQ(alone.exit, 1);
  expect_contains(alone.out, "\nSELF-DECLARED  nothing was run again");
}

TEST(VerifyVerb, CatchesABundleThatWasEditedAndHashedAgain) {
  const Scratch scratch;
  const std::string forged = scratch.path("forged"), wrong = scratch.path("wrong");
  attest("reference", forged);
  ASSERT_EQ(attest("null", wrong).exit, 1);
  // A pass that another backend earned, under the name of the one that fails.
  const auto document = [](const std::string& file) { return json::parse(text_of_file(file)); };
  json report = nlohmann::ordered_json::parse(text_of_file(forged + "/report.json"));
  report["backend"] = document(wrong + "/report.json")["backend"];
  std::ofstream(forged + "/report.json") << report.dump();
  json statement = document(forged + "/statement.json");
  statement["subject"] = document(wrong + "/statement.json")["subject"];
  statement["predicate"]["report_sha256"] = sha256(report.dump());
  std::ofstream(forged + "/statement.json") << statement.dump();
  const Ended alone = says({"report", "verify", forged});
  EXPECT_EQ(alone.exit, 0) << alone.out << alone.err;
  expect_contains(alone.out, "SELF-DECLARED");
  const Ended again = says({"report", "verify", forged, "null", "--rerun", "9", "--quiet"});
  EXPECT_EQ(again.exit, 1) << again.out << again.err;
  expect_contains(again.out, "declared passed, this time failed");
  expect_contains(again.out, "REFUTED");
}

}  // namespace
}  // namespace lockstep::judge
