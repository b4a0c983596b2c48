// The program compares, merges and attests runs.
#include <gtest/gtest.h>

#include "conformance/base/sha256.h"
#include "conformance/selection/select.h"
#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
const std::string kSmall = "--tier 0 --op relu,sum --quiet";

// The report of a backend, as a file.
std::string report(const Scratch& scratch, const std::string& backend, const Words& more = {}) {
  std::string file = scratch.path(backend + std::to_string(more.size()) + ".json");
  lockstep_says(joined({"check", backend, "--no-shrink", "--json", file}, words_in(kSmall, more)));
  return file;
}

Words verify(const std::string& directory, const std::string& more = "") {
  return joined({"report", "verify", directory}, words_in(more));
}

TEST(DigestVerb, IsTheLineOfTheReportToo) {
  const Scratch scratch;
  const auto line = [](const std::string& backend, const std::string& more = "") {
    return lockstep_says(joined({"digest", backend}, words_in(kSmall + more)));
  };
  const Ended right = line("reference");
  expect_end(right, 0);
  EXPECT_EQ(lockstep_says({"report", "digest", report(scratch, "reference")}).out, right.out);
  EXPECT_EQ(line("exec:lockstep eval --backend reference --cases -",
                " --jobs 1 --timeout 20 --start-timeout 20")
                .out,
      right.out);
  EXPECT_NE(line("null").out, right.out);
  const Ended dead = line("exec:true");
  expect_end(dead, 1);
  expect_contains(dead.err, "crashed, hung or were left out");
}

TEST(AgreeVerb, ComparesDevices) {
  const Scratch scratch;
  const std::string right = report(scratch, "reference"), wrong = report(scratch, "null"),
                    other = report(scratch, "reference", {"--seed", "2"});
  const std::tuple<Words, int, Words> rows[] = {
      {{right, right, right}, 0, {"PASS  D3: the same outputs on 3 devices"}},
      {{right, wrong}, 1, {"' differ in relu, sum\nFAIL  D3"}},
      {{right, wrong, other}, 3, {"are not about the same calls\nINCOMPLETE  D3"}},
      {{right}, 2, {}}};
  for (const auto& [files, exit, says] : rows)
    expect_end(joined({"report", "agree"}, files), exit, says);
}

Ended attest(
    const std::string& backend, const std::string& directory, const std::string& files = "") {
  return lockstep_says(
      joined({"report", "attest", backend, directory}, words_in(kSmall + " --nonce n " + files)));
}

TEST(AttestVerb, WritesWhatVerifyWitnesses) {
  const Scratch scratch;
  const std::string directory = scratch.path("evidence");
  expect_end(attest("reference", directory), 0, {"SELF-DECLARED"});
  expect_end(verify(directory, "--nonce n"), 0, {"SELF-DECLARED  nothing was run again"});
  expect_end(verify(directory, "reference --quiet"), 0,
      {"run again: 194 of ", "WITNESSED  194 of ", " passed with probability 1.98 %"});
  expect_end(verify(directory, "reference --rerun 193 --quiet"), 0, {"SAMPLED  193 of "});
  expect_end(verify(directory, "reference --rerun 100000 --quiet"), 0,
      {"WITNESSED", " passed with probability 0.00 %"});
  expect_end(verify(directory, "--nonce m"), 1, {"refuted: the nonce differs"});
  expect_end(verify(directory, "null --rerun 9 --quiet"), 1,
      {"no file of 'null' is the 'reference.so' that was judged"});
  EXPECT_EQ(attest("reference", directory).exit, 2) << "evidence is not overwritten";
  expect_end(verify(directory, "--rerun 9"), 2);  // it names no backend
  expect_contains(attest("exec:cat|:", scratch.path("command")).err, "--subject FILE");
  EXPECT_EQ(attest(scratch.write("text.so", "hello"), scratch.path("none")).exit, 2);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("none"))) << "there is no evidence";
}

TEST(AttestVerb, BindsACommandToItsFiles) {
  const Scratch scratch;
  const std::string directory = scratch.path("evidence");
  const std::string backend = "exec:sh " + scratch.write("mute.sh", "exit 0\n");
  const std::string table = scratch.write("table", "1\n");
  EXPECT_EQ(attest(backend, directory, "--subject " + table).exit, 1);
  const json statement = json::parse(text_of_file(directory + "/statement.json"));
  std::vector<std::string> names;
  for (const json& file : statement["subject"]) names.push_back(file["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"sh", "mute.sh", "table"}));
  const auto again = [&](const std::string& files) {
    return lockstep_says(joined(
        {"report", "verify", directory, backend, "--rerun", "1", "--quiet"}, words_in(files)));
  };
  EXPECT_EQ(again("--subject " + table).out.find("no file of"), std::string::npos);
  expect_end(again(""), 1, {"refuted: no file of '" + backend + "' is the 'table'"});
  scratch.write("mute.sh", "exit 1\n");
  expect_end(
      again("--subject " + table), 1, {"refuted: no file of '" + backend + "' is the 'mute.sh'"});
}

TEST(AttestVerb, WritesEvidenceOfACrash) {
  const Scratch scratch;
  const std::string directory = scratch.path("evidence");
  EXPECT_EQ(attest(hostile("exits"), directory).exit, 1);
  expect_end(verify(directory), 1, {"\nSELF-DECLARED  nothing was run again"});
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
  expect_end(verify(forged), 0, {"SELF-DECLARED"});
  expect_end(verify(forged, "null --rerun 9 --quiet"), 1,
      {"declared passed, this time failed", "REFUTED"});
}

}  // namespace
}  // namespace lockstep::judge
