// The real program with runs that are interrupted, shared by machines, or have expected failures.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

// A check of a few cases that leaves a report.
Judged of_two(const std::string& backend, const Words& more, const Variables& env = {},
    const std::string& jobs = "2") {
  const Words few = words_in("--tier 0 --op relu,sum --vectors '' --jobs " + jobs, more);
  return judged(joined({"check", backend}, few), env);
}

class Resume : public ScratchTest {
 protected:
  const std::string journal = scratch.path("journal");
};

std::string first_lines(const Words& lines, std::size_t n) {
  std::string text;
  for (std::size_t k = 0; k < n; ++k) text += lines[k] + "\n";
  return text;
}

TEST_F(Resume, GoesOnToTheSameReport) {
  // A resumed run must also quarantine the operators of a backend that crashes too often in the
  // same way.
  for (const char* fault : {"none", "segfault", "after_end", "accept"}) {
    std::filesystem::remove(journal);
    const Words set = {"--set", std::string("fault=") + fault, "--no-shrink"};
    const auto with_journal = [&] {
      return of_two(hostile("misbehaving"), joined(set, {"--resume", journal}), {}, "3");
    };
    const Judged whole = of_two(hostile("misbehaving"), set, {}, "1");
    // The journal has a line for its run, and one for each case that was judged or quarantined.
    const auto expect_whole = [&] {
      const std::size_t lines = lines_of(text_of_file(journal)).size();
      EXPECT_GE(lines, 1U + static_cast<std::size_t>(whole.count("executed"))) << fault;
      EXPECT_LE(lines, 1U + static_cast<std::size_t>(whole.count("selected"))) << fault;
    };
    EXPECT_TRUE(with_journal().text == whole.text) << fault;
    expect_whole();
    const Words lines = lines_of(text_of_file(journal));
    EXPECT_TRUE(with_journal().text == whole.text) << "all of it is known";
    EXPECT_EQ(text_of_file(journal), first_lines(lines, lines.size()));
    for (std::size_t kept : {std::size_t{1}, std::size_t{2}, lines.size() / 2}) {
      // What a killed process leaves: some whole lines, and a part of one.
      scratch.write("journal", first_lines(lines, kept) + lines[kept].substr(0, 20));
      EXPECT_TRUE(with_journal().text == whole.text) << fault << " after " << kept << " lines";
      expect_whole();
    }
  }
}

constexpr char kFound[] =
    R"({"layout": {"text": "", "kind": 0, "label": "", "hint": "", "elements": []}})";

TEST_F(Resume, TrustsTheJournalAndNotTheBackend) {
  const Words words = {"--resume", journal};
  ASSERT_EQ(of_two("reference", words).end.exit, 0);
  Words lines = lines_of(text_of_file(journal));
  json passed = json::parse(lines.back());
  passed["findings"] = json::parse(kFound);
  passed["outcome"] = 1;
  lines.back() = passed.dump();
  scratch.write("journal", first_lines(lines, lines.size()));
  EXPECT_EQ(of_two("reference", words).end.exit, 1) << "it is not asked again";
}

// A call that hangs in graphs around other operators' cases is its own operator's fault.
TEST_F(Resume, CountsHangsOfOtherCallsInGraphs) {
  const Words words = {"--resume", journal};
  ASSERT_EQ(of_two("reference", words).end.exit, 0);
  const Words lines = lines_of(text_of_file(journal));
  const auto quarantined = [&](const Words& hung) {
    std::string text = lines[0] + "\n";
    for (std::size_t k = 0; k < hung.size(); ++k) {
      json line = json::parse(lines[k + 1]);
      line["hung"] = hung[k];
      text += line.dump() + "\n";
    }
    scratch.write("journal", text);
    const Judged some = of_two("reference", words);
    EXPECT_EQ(some.end.exit, some.report["quarantine"].empty() ? 0 : 1);
    EXPECT_EQ(some.count("timed_out"), 0) << "no case of its own";
    return some.report["quarantine"];
  };
  EXPECT_EQ(quarantined(words_in("relu relu")), json::array());
  EXPECT_EQ(quarantined(words_in("relu relu relu")), json({"relu hung 3 times"}));
  EXPECT_EQ(quarantined(words_in("abs clip take max tile where repeat dense squeeze transpose")),
      json({"the backend hangs too often"}));
}

TEST_F(Resume, RefusesWhatIsNotItsJournal) {
  const auto refused = [&](const Words& more, const std::string& says) {
    const std::string before = text_of_file(journal);
    expect_end(of_two("reference", joined({"--resume", journal}, more)).end, 2, {says});
    EXPECT_EQ(text_of_file(journal), before) << "a file of somebody else's stays as it is";
  };
  ASSERT_EQ(of_two("reference", {"--resume", journal, "--budget", "9"}).end.exit, 0);
  refused({}, "it belongs to another run: its set_hash is ");
  refused({"--budget", "9", "--timeout", "7"}, "its timeout is 2.0, not 7.0");
  // The same cases, judged by fewer properties.
  refused({"--budget", "9", "--property", "layout,matches_vectors,rejects"},
      "its properties is [], not [\"layout\",");
  const std::string good = text_of_file(journal);
  // A journal as from a machine that cannot run the same kernels.
  const std::size_t manifest = good.find("\"manifest_sha256\":\"");
  ASSERT_NE(manifest, std::string::npos);
  scratch.write("journal", std::string(good).replace(manifest + 19, 4, "0000"));
  refused({"--budget", "9"}, "its manifest_sha256 is \"0000");
  scratch.write("journal", good.substr(0, good.find('\n') + 1) + "{\"n\":1}\n");
  refused({"--budget", "9"}, "line of case 1: /outcome is missing");
  // The hash of a case that ran, a digit shorter.
  const std::string key = "\"outputs\":\"";
  std::size_t hash = good.find(key) + key.size();
  while (good[hash] == '"') hash = good.find(key, hash) + key.size();
  scratch.write("journal", std::string(good).erase(hash, 1));
  refused({"--budget", "9"}, "/outputs is no SHA-256");
  scratch.write("journal", "a text");
  refused({"--budget", "9"}, "it is no journal");
}

// The answer to a journal of one case in which one member of the line is replaced.
TEST_F(Resume, KnowsEveryOutcomeAndNoOther) {
  const Words words = {"--resume", journal, "--budget", "1"};
  ASSERT_EQ(of_two("reference", words).end.exit, 0);
  const Words lines = lines_of(text_of_file(journal));
  ASSERT_EQ(lines.size(), 2U);
  const std::tuple<const char*, int, int> rows[] = {{"outcome", 0, 0}, {"outcome", 1, 1},
      {"outcome", 2, 1}, {"outcome", 3, 1}, {"outcome", 4, 2}, {"outcome", -1, 2}};
  for (const auto& [key, value, exit] : rows) {
    json line = json::parse(lines[1]);
    line[key] = value;
    if (key == std::string("outcome") && value > 0) line["findings"] = json::parse(kFound);
    scratch.write("journal", lines[0] + "\n" + line.dump() + "\n");
    EXPECT_EQ(of_two("reference", words).end.exit, exit) << key << " " << value;
  }
  for (const bool noticed : {true, false}) {
    json line = json::parse(lines[1]);
    line["canaries"]["layout"] = noticed;
    scratch.write("journal", lines[0] + "\n" + line.dump() + "\n");
    EXPECT_EQ(of_two("reference", words).end.exit, noticed ? 0 : 4);
  }
}

// A canary of each property must have been noticed, and none missed.
TEST_F(Resume, FindsAJournalWithoutCanariesBlind) {
  const Words words = {"--resume", journal};
  ASSERT_EQ(of_two("reference", words).end.exit, 0);
  const Words lines = lines_of(text_of_file(journal));
  const auto resumed = [&](const auto& change) {
    Words changed = lines;
    for (std::size_t k = 1; k < lines.size(); ++k) {
      json line = json::parse(lines[k]);
      json canaries = line.value("canaries", json::object());
      change(canaries);
      line["canaries"] = canaries;
      changed[k] = line.dump();
    }
    scratch.write("journal", text_of_lines(changed));
    return of_two("reference", words).end.exit;
  };
  EXPECT_EQ(resumed([](json&) {}), 0);
  EXPECT_EQ(resumed([](json& canaries) { canaries.erase("layout"); }), 4);
  // A canary that does not count, since another case of its stretch has one.
  EXPECT_EQ(resumed([](json& canaries) {
    if (!canaries.contains("layout")) canaries["layout"] = false;
  }),
      4);
}

TEST_F(Resume, WritesAJournalInAscii) {
  of_two(hostile("misbehaving"),
      {"--set", "fault=garbled", "--budget", "20", "--no-shrink", "--resume", journal});
  const std::string text = text_of_file(journal);
  expect_contains(text, "<&>");
  for (char c : text) ASSERT_TRUE(c == '\n' || (32 <= c && c < 127)) << text;
}

// Each missing answer costs seconds, even if no process waits for it.
TEST(Quarantine, KeepsAnOperatorFromBeingAskedOn) {
  for (const auto& [fault, tier] : {std::pair{"hang", "0"}, {"segfault", "1"}}) {
    const Scratch scratch;
    const std::string journal = scratch.path("journal");
    const Words limits = words_in(
        "--op relu,sum --tier 1 --budget 400 --vectors '' --jobs 1 --timeout 0.3 --no-shrink",
        {"--set", std::string("fault=") + fault, "--resume", journal});
    const json counts = judged(joined({"check", hostile("misbehaving")}, limits)).report["counts"];
    const auto known = static_cast<int>(lines_of(text_of_file(journal)).size()) - 1;
    EXPECT_GE(known, counts["executed"]) << fault;
    EXPECT_LE(known, counts["executed"].get<int>() + 40) << "it may be ahead of who decides";
    EXPECT_GT(counts["quarantined"], 50) << fault;
  }
}

TEST(Quarantine, CountsWhatALibraryWritesToTheJudge) {
  const json report = judged(
      joined({"check", hostile("misbehaving")},
          words_in("--set fault=forge --op relu,sum --budget 60 --vectors '' --jobs 1 --timeout 20 "
                   "--no-shrink")))
                          .report;
  EXPECT_EQ(report["counts"]["failed"], 3);
  EXPECT_GT(report["counts"]["quarantined"], 20);
  EXPECT_EQ(report["quarantine"], json({"relu broke its channel 3 times"}));
  EXPECT_EQ(report["failures"][0]["answer"], "broken_channel");
}

TEST_F(Resume, RefusesResultsOfOtherVectors) {
  std::filesystem::copy("conformance/vectors", scratch.path("vectors"));
  const Words check =
      words_in("check reference --tier 0 --op relu --property matches_vectors --quiet",
          {"--vectors", scratch.path("vectors"), "--resume", journal});
  for (const char* run : {"first", "the same vectors"}) {
    SCOPED_TRACE(run);
    expect_end(check, 0);
  }
  std::ofstream(scratch.path("vectors/relu.json"), std::ios::app) << "\n";
  expect_end(check, 2, {"it belongs to another run: its vectors_sha256 is"});
}

TEST(Vectors, ThatContradictThisProgramJudgeNobody) {
  const Scratch scratch;
  std::filesystem::copy("conformance/vectors", scratch.path("vectors"));
  const std::string file = scratch.path("vectors/expand_dims.json");
  std::string text = text_of_file(file);
  const std::string bound = R"("num_newaxis":"4097")";
  const std::size_t label = text.find("attr.range", text.find(bound));
  scratch.write("vectors/expand_dims.json", text.replace(label, 10, "attr.syntax"));
  expect_end(
      words_in("check reference --tier 0 --op expand_dims", {"--vectors", scratch.path("vectors")}),
      2, {" is refused with attr.syntax, this program's specification says 'attr.range'"});
}

TEST(Interrupt, IsNoCrashOfABackendThatItReachesFirst) {
  const Scratch scratch;
  const std::string journal = scratch.path("journal"), held = scratch.path("held-1");
  const std::string command = program() +
      " check 'exec:python3 conformance/tests/held_backend.py' --op relu --tier 0 --jobs 1"
      " --property matches_reference --vectors '' --timeout 60 --quiet --resume " +
      journal;
  const Variables first = {
      {"HELD", scratch.path("")}, {"HELD_TASKS", "1"}, {"SLURM_ARRAY_TASK_ID", "1"}};
  const Ended e = run({"bash", "-c",
                          command + " & judge=$!; while [ ! -s " + held +
                              " ]; do sleep 0.05; done; kill -TERM $(cat " + held +
                              "); sleep 0.05; kill -TERM $judge; wait $judge"},
      "", first);
  expect_end(e, 3, {"5 executed: 5 passed"});
  EXPECT_EQ(lines_of(text_of_file(journal)).size(), 6U);
  expect_end(run({"bash", "-c", command}, "", first), 0);
}

// Ends a run that has judged a few cases. @return how it ended, and what it reported.
Judged interrupted_by(const std::string& signal) {
  const Scratch scratch;
  const std::string journal = scratch.path("journal"), file = scratch.path("report.json");
  const std::string command = program() +
      " check reference --tier 2 --op conv2d --vectors '' --quiet --jobs 2"
      " --resume " +
      journal + " --json " + file + " & judge=$!;";
  const std::string until_twenty = " while [ ! -s " + journal + " ] || [ $(wc -l < " + journal +
      ") -lt 20 ]; do sleep 0.05; done;";
  Judged c{
      run({"bash", "-c", command + until_twenty + " kill -" + signal + " $judge; wait $judge"}),
      text_of_file(file), {}};
  c.report = json::parse(c.text, nullptr, false);
  return c;
}

TEST(Interrupt, EndsARunWithAReportThatSaysWhatIsMissing) {
  for (const char* signal : {"TERM", "INT"}) {
    const Judged c = interrupted_by(signal);
    expect_end(c.end, 3, {"INCOMPLETE"});
    ASSERT_TRUE(c.report.is_object()) << signal;
    EXPECT_GT(c.count("missing"), 0);
    EXPECT_GT(c.count("executed"), 10);
    ASSERT_FALSE(c.report["missing"].empty());
    expect_contains(c.report["missing"][0].get<std::string>(), "conv2d/");
  }
}

// The backend ends the process that asks it.
TEST(Shard, OfAJudgeThatEndsEarlyIsNoVerdict) {
  const std::string killer =
      "exec:read x; echo '{\"id\":0,\"status\":\"unsupported\"}'; read x; "
      "kill -9 $(sed -n 's/^PPid://p' /proc/$PPID/status); sleep 5";
  expect_end(
      joined({"check", killer}, words_in("--op relu --tier 0 --vectors '' --jobs 1 --budget 5")), 4,
      {"a judging process was killed by SIGKILL before it was done (exit 4, judge broke)"});
}

TEST(Shard, PartsAreTheWholeAndSaySo) {
  const Scratch scratch;
  const Judged whole = of_two("reference", {});
  Words merge = {"report", "merge", "--output", "-"};
  int selected = 0, calls = 0;
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const Judged c = of_two("reference", {"--shard", part});
    expect_end(c.end, 0, {"SHARD " + std::string(part) + " of SUBSET (2 of "});
    EXPECT_EQ(c.report["set_hash"], whole.report["set_hash"]);
    EXPECT_EQ(c.report["set_cases"], whole.count("selected"));
    selected += c.count("selected");
    calls += c.count("calls");
    merge.push_back(scratch.write(std::string(1, part[0]), c.text));
  }
  EXPECT_EQ(selected, whole.count("selected"));
  EXPECT_EQ(calls, whole.count("calls"));
  const json merged = json::parse(expect_end(merge, 0).out);
  for (const char* key : {"digest", "cells"}) EXPECT_EQ(merged[key], whole.report[key]);
  const Judged job = of_two(
      "reference", {"--shard", "auto"}, {{"JOB_COMPLETION_INDEX", "1"}, {"LOCKSTEP_SHARDS", "3"}});
  EXPECT_EQ(job.report["part"], (json{{"number", 2}, {"of", 3}}));
  EXPECT_EQ(of_two("reference", {"--shard", "auto"}).end.exit, 2);
  // A part without a case is no pass.
  expect_end(of_two("reference", {"--budget", "2", "--shard", "3/3"}).end, 3,
      {"incomplete: no case was selected"});
}

// A file of one expectation, the members of which may be replaced.
std::string expecting(const std::map<std::string, std::string>& members) {
  std::map<std::string, std::string> all = {{"operator", "'relu'"}, {"property", "'deterministic'"},
      {"kind", "'fail'"}, {"reason", "'it keeps state'"}, {"link", "'https://example.org/7'"},
      {"expires", "2030-01-31"}};
  for (const auto& [key, value] : members) all[key] = value;
  std::string text = "[[expect]]\n";
  for (const auto& [key, value] : all)
    if (!value.empty()) text += key + " = " + value + "\n";
  return text;
}

// Judges relu alone, because options given twice would add up.
Judged of_relu(const std::string& fault, const std::string& text,
    const Words& more = {"--property", "layout"}) {
  const Scratch scratch;
  const Words known =
      words_in("--tier 0 --op relu --vectors '' --jobs 1 --no-shrink --today 2029-12-31",
          {"--set", "fault=" + fault, "--expectations", scratch.write("known.toml", text)});
  return judged(joined(joined({"check", hostile("misbehaving")}, known), more));
}

TEST(Expectations, OfAllThatFailsAreKnownFailures) {
  const Judged c = of_relu("throw", expecting({{"property", "'lay*'"}}));
  expect_end(c.end, 6,
      {", KNOWN FAILURES (60)", "known   it keeps state (https://example.org/7)",
          "exit 6 (known failures)"});
  EXPECT_EQ(c.report["known"]["failed"], c.count("failed"));
  EXPECT_EQ(c.report["failures"][0]["known"], "it keeps state (https://example.org/7)");
}

TEST(Expectations, ExcuseNothingElse) {
  const Words two = {"--property", "layout,alignment"};
  const Judged other = of_relu("throw", expecting({{"property", "'alignment'"}}), two);
  expect_end(other.end, 1);
  EXPECT_EQ(other.report["known"]["failed"], 0) << "each case fails otherwise, too";
  EXPECT_LT(other.end.out.find("violates layout"), other.end.out.find("violates alignment"))
      << "news come first";
  const Judged crash = of_relu("segfault", expecting({{"property", "'*'"}}));
  EXPECT_EQ(crash.end.exit, 1) << "a crash is no wrong answer";
  const Judged known = of_relu("hang", expecting({{"property", "'*'"}, {"kind", "'timeout'"}}),
      {"--property", "layout", "--timeout", "0.3"});
  expect_end(known.end, 6);
  EXPECT_GT(known.report["known"]["quarantined"], 0) << known.end.out;
}

TEST(Expectations, ThatNoLongerHoldAreStale) {
  const auto stale = [&](std::map<std::string, std::string> members, const std::string& says) {
    members.try_emplace("property", "'layout'");
    const Judged c = of_relu("none", expecting(members));
    expect_end(c.end, 5, {says, "known.toml:1 (relu"});
    EXPECT_EQ(c.report["verdict"], "STALE");
  };
  stale({}, "passes");
  stale({{"case", "'relu/in=9x9x9x9x9@8*'"}}, "matches nothing");
  const std::string first = of_relu("throw", "").report["failures"][0]["case"];
  stale({{"case", "'" + first + "'"}}, first + " passes");
  stale({{"expires", "2029-12-30"}}, "expired on 2029-12-30");
  const Judged expired =
      of_relu("throw", expecting({{"property", "'layout'"}, {"expires", "2029-12-30"}}));
  EXPECT_EQ(expired.end.exit, 1) << "what expired excuses nothing, and 1 comes before 5";
}

TEST(Expectations, OfPartsAreJudgedByTheWholeRun) {
  const Scratch scratch;
  const std::string known = expecting({{"property", "'layout'"}}) +
      expecting({{"property", "'layout'"}, {"case", "'relu/in=9x9x9x9x9@8*'"}});
  Words merge = {"report", "merge", "--output", "-"};
  for (const char* part : {"1/2", "2/2"}) {
    const Judged c = of_relu("throw", known, {"--property", "layout", "--shard", part});
    EXPECT_EQ(c.end.exit, 6) << "a part misses nothing\n" << c.end.out << c.end.err;
    merge.push_back(scratch.write(std::string(1, part[0]), c.text));
  }
  const json stale = json::parse(expect_end(merge, 5).out)["stale"];
  ASSERT_EQ(stale.size(), 1U);
  expect_contains(stale[0].get<std::string>(), "relu/in=9x9x9x9x9@8*) matches nothing");
}

TEST(Expectations, AreReadWithAPlaceForWhatIsWrong) {
  const std::pair<std::string, const char*> rows[] = {{"[[expect]\n", "known.toml:1: "},
      {"[[expected]]\n", "known.toml:1: 'expected' is unknown"},
      {"expect = 7\n", "known.toml:1: 'expect' is unknown"},
      {expecting({{"reason", ""}}), "known.toml:1: an entry needs 'reason'"},
      {expecting({{"operator", ""}}), "an entry needs 'operator'"},
      {expecting({{"expires", ""}}), "an entry needs 'expires'"},
      {expecting({{"expires", "'2030-01-31'"}}), "'expires' must be a date"},
      {expecting({{"operator", "'relo'"}}), "no operator matches 'relo'"},
      {expecting({{"property", "'layouts'"}}), "no property matches 'layouts'"},
      {expecting({{"kind", "'flaky'"}}), "known.toml:3: 'kind' must be fail, crash or timeout"},
      {expecting({{"tier", "4"}}), "'tier' must be 0, 1, 2 or 3"},
      {expecting({{"reason", "7"}}), "'reason' must be a text"},
      {expecting({{"property", ""}}), "an entry needs 'property'"},
      {expecting({{"kind", ""}}), "an entry needs 'kind'"},
      {expecting({{"reason", "''"}}), "'reason' must be a text"},
      {expecting({{"tier", "'x'"}}), "'tier' must be 0, 1, 2 or 3"},
      {"expect = [1]\n", "known.toml:1: an entry is a table [[expect]]"},
      {expecting({{"owner", "'me'"}}),
          "'owner' is no key of an entry (operator, property, case, kind, reason, link, expires, "
          "tier, seed, count, ids)"}};
  for (const auto& [text, says] : rows) expect_end(of_relu("none", text).end, 2, {says});
  const Ended none = expect_end(
      words_in("check reference --expectations /nowhere/known.toml"), 2, {"/nowhere/known.toml"});
  EXPECT_EQ(none.err.find("known.toml:0"), std::string::npos) << "it has no line";
  for (const char* tier : {"0", "3"})
    expect_end(
        of_relu("none", expecting({{"property", "'infers'"}, {"tier", tier}, {"link", ""}})).end,
        0);
}

}  // namespace
}  // namespace lockstep::judge
