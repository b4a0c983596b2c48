// What reports say for extreme numbers: none, one, the last that fits.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/base/form.h"
#include "conformance/reports/html.h"
#include "conformance/reports/power.h"
#include "conformance/reports/report.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

Report with_failure(i64 judged, i64 failed) {
  Report r;
  r.backend = r.name = "toy", r.version = "1";
  r.cells["relu"]["layout"] = {judged, failed};
  if (failed > 0) r.failing["relu"]["layout"]["fail"].calls = failed;
  if (failed > 0)
    r.failures = {{"relu", "layout", "relu/in=1@8/data=1", "is wrong", failed, {}, {}, {}}};
  return r;
}

TEST(ReportMembers, AreZeroUntilSomebodyFillsThem) {
  Report r;
  r.failures.resize(1), r.expectations.resize(1);
  r.cells["a"]["b"], r.outputs["a"];
  const std::map<std::string, form::json> others = {{"/schema", 1}, {"/tier", 1}, {"/seed", 1},
      {"/part/number", 1}, {"/part/of", 1}, {"/floor/per_operator", tier_floor(1)},
      {"/failures/0/number", -1}, {"/failures/0/causes", 1}, {"/expectations/0/passed_number", -1},
      {"/expectations/0/seed", 1}};
  const form::json flat = form::json::parse(json_report(r)).flatten();
  for (const auto& [at, value] : flat.items()) {
    const form::json zero = value.is_number() ? form::json(0) : form::json(false);
    if (value.is_number() || value.is_boolean()) {
      EXPECT_EQ(value, others.contains(at) ? others.at(at) : zero) << at;
    }
  }
  EXPECT_EQ(Cluster().count, 0);
  EXPECT_EQ(Screen().rows, 0);
  EXPECT_EQ(Screen().columns, 0);
  EXPECT_EQ(CoverSummary::Cells().required, 0);
  EXPECT_EQ(CoverSummary::Cells().covered, 0);
}

std::string form_of(const form::json& j) {
  return words_of<UsageError>([&] { read_report(j.dump()); });
}

// A report with the largest legal numbers.
Report at_the_ends() {
  Report r = with_failure(1, 1);
  r.tier = 3, r.counts.calls = form::kMaxCount;
  r.counts.selected = r.counts.executed = r.counts.failed = r.set_cases = 1;
  r.failures[0].known = "slow", r.known.failed = 1;
  r.paths["relu"]["fast"] = 1;
  r.expectations.resize(1);
  r.expectations[0].kind = "fail", r.expectations[0].tier = 3;
  r.expectations[0].matched = r.expectations[0].judged = 1;
  conclude(r);
  return r;
}

TEST(ReadReport, TakesTheLastLegalNumbersAndNoneBeyond) {
  const form::json whole = form::json::parse(json_report(at_the_ends()));
  EXPECT_EQ(form_of(whole), "");
  const std::tuple<const char*, form::json, const char*> edits[] = {
      {"/failures/0/number", -2, "is -2, out of its range"},
      {"/failures/0/number", UINT64_MAX, "is no integer of 64 bits"},
      {"/failures/0/count", 0, "is 0, out of its range"},
      {"/expectations/0/tier", 4, "is 4, out of its range"},
      {"/expectations/0/passed_number", -2, "is -2, out of its range"},
      {"/part/number", 0, "is 0, out of its range"},
      {"/paths/relu/fast", 0, "is 0, out of its range"},
      {"/scope/operators_all", i64{1} << 40, "is 1099511627776, out of its range"},
      {"/set_hash", "abc", "is no SHA-256"}, {"/set_hash", std::string(64, 'g'), "is no SHA-256"}};
  for (const auto& [at, value, says] : edits)
    EXPECT_EQ(form_of(with(whole, at, value)), at + std::string(" ") + says);
}

TEST(ReadReport, RefusesFailuresOfWhatWasNotJudged) {
  for (const auto& [op, property] : {std::pair{"sum", "layout"}, {"relu", "isa"}}) {
    Report r = at_the_ends();
    r.cells["relu"]["layout"].failed = 0, r.failing.clear();
    r.failures[0].op = op, r.failures[0].property = property;
    EXPECT_EQ(form_of(form::json::parse(json_report(r))),
        std::string("/failures are of ") + op + " " + property + ", which was not judged");
  }
}

TEST(JsonReport, IsAsciiWhateverBytesAreInIt) {
  Report r;
  r.name = "\xc3\xa4\xff";
  expect_contains(json_report(r), "\"name\": \"\\u00e4\\ufffd\"");
}

TEST(CheckCommand, NamesABudgetWhereThereIsOne) {
  Report r;
  r.backend = "cpu";
  EXPECT_EQ(check_command(r), "lockstep check cpu --tier 1 --seed 1");
  r.chosen.budget = 1;
  EXPECT_EQ(check_command(r), "lockstep check cpu --tier 1 --seed 1 --budget 1");
}

TEST(HtmlReport, MarksTheTilesThatAreBad) {
  Report r;
  const auto shows = [&](bool bad, int n, const char* word) {
    expect_contains(html_report(r, {}),
        std::string("<div") + (bad ? " class=\"bad\"" : "") + "><b>" + std::to_string(n) + "</b>" +
            word + "</div>");
  };
  const char* const wanted[] = {"selected", "executed"};
  const char* const unwanted[] = {"failed", "crashed", "timed out", "missing", "quarantined"};
  for (const char* word : wanted) shows(true, 0, word);
  for (const char* word : unwanted) shows(false, 0, word);
  r.counts = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const char* word : wanted) shows(false, 1, word);
  for (const char* word : unwanted) shows(true, 1, word);
}

TEST(HtmlReport, ColoursCellsByWhatWasJudgedAndWhatFailed) {
  const std::tuple<i64, i64, const char*> rows[] = {{1, 0, "g1"}, {7, 0, "g1"}, {31, 0, "g1"},
      {32, 0, "g2"}, {255, 0, "g2"}, {256, 0, "g3"}, {2047, 0, "g3"}, {2048, 0, "g4"},
      {i64{1} << 40, 0, "g4"}, {90, 1, "r1"}, {90, 30, "r1"}, {90, 31, "r2"}, {90, 61, "r2"},
      {90, 62, "r3"}, {90, 90, "r3"}, {1, 9, "r3"}};
  for (const auto& [judged, failed, colour] : rows)
    expect_contains(html_report(with_failure(judged, failed), {}),
        std::string("<td class=\"") + colour + "\" title=\"relu layout: ");
}

TEST(HtmlReport, CountsTheRunsOfEachKernel) {
  Report r;
  r.kernels = {{"relu", "fast", "avx2", true}, {"*", "plain", "portable", true},
      {"relu", "gone", "avx2", true}, {"relu", "far", "amx", false}};
  r.paths = {{"relu", {{"fast", 5}}}, {"sum", {{"fast", 7}, {"plain", 3}}}};
  r.part = {1, 2};
  const std::string html = html_report(r, {});
  for (const char* row : {"<td>relu</td><td>fast</td><td>avx2</td><td class=\"num\">5</td>",
           "<td>all</td><td>plain</td><td>portable</td><td class=\"num\">3</td>",
           "<td>relu</td><td>gone</td><td>avx2</td><td class=\"num\">0</td>",
           "<td>far</td><td>amx</td><td class=\"num\">not on this machine</td>",
           "<dt>part</dt><dd>1 of 2</dd>"})
    expect_contains(html, row);
}

const char* const kCells = R"({"set": "", "operators": {"relu": {"required": 1099511627776,
  "covered": 1, "cells": [{"state": "empty", "classes": {"a": "b", "c": "d"}}],
  "combinations": [{"classes": 1099511627776, "covered": 1099511627775, "required": 1099511627776,
              "empty": [{"e": "f"}]}]}}})";

TEST(ReadCover, TakesWhatAPageShowsAndNamesWhatIsWrong) {
  const CoverSummary::Cells row = read_cover(kCells).operators.at("relu");
  EXPECT_EQ(row.required, i64{1} << 40);
  EXPECT_EQ(row.combinations.at(i64{1} << 40), std::pair((i64{1} << 40) - 1, i64{1} << 40));
  EXPECT_EQ(row.empty, (std::vector<std::string>{"a: b, c: d", "e: f"}));
  const auto refusal = [](const std::string& text) {
    return words_of<UsageError>([&] { read_cover(text); });
  };
  EXPECT_EQ(refusal("{"), "it is no JSON");
  EXPECT_EQ(refusal("[]"), "/set is missing");
  const std::string relu = "/operators/relu";
  const std::tuple<std::string, form::json, std::string> edits[] = {
      {"/set", "x", "/set is no SHA-256"},
      {"/operators", form::json::array(), "/operators is no object"},
      {relu, 7, relu + "/required is missing"},
      {relu, form::json::object(), relu + "/required is missing"},
      {relu + "/cells", 7, relu + "/cells is no list"},
      {relu + "/cells/0", 7, relu + "/cells/0/state is missing"},
      {relu + "/combinations/0/empty", 7, relu + "/combinations/0/empty is no list"},
      {relu + "/combinations/0/empty/0", 7, relu + "/combinations/0/empty/0 is no object"}};
  for (const auto& [at, value, says] : edits)
    EXPECT_EQ(refusal(with(form::json::parse(kCells), at, value).dump()), says);
}

TEST(HtmlReport, ShowsCoverageOfNothingAndOfAll) {
  CoverSummary c;
  c.operators["none"] = {0, 0, {}, {"a: b"}};
  c.operators["one"] = {1, 1, {}, std::vector<std::string>(8, "c")};
  const std::string html = html_report({}, {c, {}});
  for (const char* part : {"0 of 0</td><td><progress max=\"1\" value=\"0\">",
           "1 of 1</td><td><progress max=\"1\" value=\"1\">", "<td class=\"bad\">a: b</td></tr>",
           "<td class=\"bad\">c; c; c; c; c; c; c; c</td></tr>"})
    expect_contains(html, part);
}

TEST(MarkdownReport, TellsOneFailureAndTenKinds) {
  Report r = with_failure(8, 1);
  expect_contains(markdown_report(r), "| `relu` | 8 | 1 | `layout` |\n");
  for (char c = 'b'; c < 'k'; ++c) {
    r.failures.push_back(r.failures[0]);
    r.failures.back().text = c;
  }
  ASSERT_EQ(clusters(r).size(), 10U);
  EXPECT_EQ(markdown_report(r).find("more kinds"), std::string::npos);
}

TEST(DensityText, NamesTheRarestOfTheDead) {
  EXPECT_EQ(power_json({}), power_json({1, 1, "", {}, 0}));
  Power p;
  p.mutants.resize(1);
  EXPECT_EQ(form::json::parse(power_json(p))["mutants"][0].dump(),
      R"({"name":"","operator":"","kind":"","provenance":"","tier":0,"dead":false,)"
      R"("property":"","kills":0,"executed":0})");
  EXPECT_EQ(p.mutants[0].density(), 0);
  p.mutants = {{"a", "", "", "", 0, true, "", 4, 4}, {"b", "", "", "", 0, true, "", 2, 4},
      {"c", "", "", "", 0, true, "", 1, 5}, {"d", "", "", "", 0, true, "", 1, 4},
      {"e", "", "", "", 0, false, "", 0, 4}, {"f", "", "", "", 0, true, "", 1, 1}};
  EXPECT_EQ(density_text(p),
      "kill density: 20.0% of the cases at least, 50.0% in the median\n"
      "  rarest  c                                  1 of 5 cases\n"
      "  rarest  d                                  1 of 4 cases\n"
      "  rarest  b                                  2 of 4 cases\n");
  EXPECT_EQ(p.mutants[5].density(), 1000);
  form::json large = form::json::parse(power_json(p));
  large["mutants"][0]["kills"] = i64{1} << 40, large["mutants"][0]["executed"] = i64{1} << 40;
  EXPECT_EQ(read_power(large.dump()).mutants[0].density(), 1000);
}

TEST(ThisEnvironment, NamesTheProcessorAsTheKernelDoes) {
  const std::string kernel = text_of_file("/proc/cpuinfo"), name = this_environment().processor;
  const bool named = kernel.find("model name") != std::string::npos;
  EXPECT_NE(name.empty(), named);
  if (named) expect_contains(kernel, "model name\t: " + name + "\n");
}

// The failures of a summary, each with the blank line below it, and its end.
std::vector<std::string> blocks_of(const std::string& text) {
  std::vector<std::string> all;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find("\n\n", from)) != std::string::npos; from = at + 2)
    all.push_back(text.substr(from, at + 2 - from));
  all.push_back(text.substr(from));
  return all;
}

i64 rows_on(const std::string& text, i64 columns) {
  i64 n = 0;
  for (const std::string& line : lines_of(text))
    n += columns > 0 ? std::max<i64>(1, (std::ssize(line) + columns - 1) / columns) : 1;
  return n;
}

TEST(Summary, ShowsAsManyFailuresAsAScreenHasRoomFor) {
  Report r = with_failure(50, 1);
  for (int k = 1; k < 6; ++k) {
    r.failures.push_back(r.failures[0]);
    r.failures.back().text = std::string(static_cast<std::size_t>(40 * k), "abcdef"[k]);
  }
  r.quarantine.assign(9, "relu hung");
  EXPECT_EQ(summary(r, false).find("more"), std::string::npos) << "a pipe has room for all";
  const std::vector<std::string> whole = blocks_of(summary(r, false, {4000, 80}));
  ASSERT_EQ(whole.size(), 7U);
  expect_contains(whole.back(), "quarantined: 6 more\n");
  for (const int columns : {0, 1, 40, 80})
    for (const int rows : {1, 2, 20, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 80, 4000}) {
      // Below the failures: how many more there are, a blank line and the prompt.
      i64 room = rows - rows_on(whole.back(), columns) - 3;
      std::string text;
      std::size_t shown = 0;
      for (; shown < 6 && ((room -= rows_on(whole[shown], columns)) >= 0 || shown == 0); ++shown)
        text += whole[shown];
      if (shown < 6)
        text += std::to_string(6 - shown) +
            " more kinds of failure are in the report (--json FILE, --html FILE).\n\n";
      EXPECT_EQ(summary(r, false, {rows, columns}), text + whole.back()) << rows << " " << columns;
    }
}

TEST(Summary, TellsAFailureLineByLine) {
  Report r = with_failure(3, 1);
  r.failures[0].shrunk = "relu/in=1@8/data=0", r.failures[0].repeat = "lockstep repro";
  EXPECT_TRUE(
      summary(r, false).starts_with("relu violates layout\n"
                                    "  case    relu/in=1@8/data=1\n"
                                    "  shows   is wrong\n"
                                    "  shrunk  relu/in=1@8/data=0\n"
                                    "  repeat  lockstep repro\n\n"))
      << summary(r, false);
  r.failures[0].count = 2;
  EXPECT_TRUE(summary(r, false).starts_with("relu violates layout in 2 cases\n"));
}

std::string said(const Report& r, std::size_t most = SIZE_MAX) {
  std::string all;
  for (const auto& [kind, text] : remarks(r, most)) all += kind + " " + text + "\n";
  return all;
}

TEST(Remarks, SayWhyARunIsIncomplete) {
  const std::string none = "incomplete no case was selected\n",
                    foreign = "incomplete the backend claims none of the selected cases\n",
                    unjudged = "incomplete no selected property applies to any case that ran\n";
  const std::tuple<Counts, i64, std::string> rows[] = {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, none},
      {{1, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 0, foreign}, {{2, 1, 1, 0, 1, 0, 0, 0, 0, 0}, 0, unjudged},
      {{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, 1, ""}, {{1, 1, 0, 0, 0, 0, 0, 1, 0, 0}, 0, ""},
      {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, 0, ""}};
  for (const auto& [counts, judged, words] : rows) {
    Report r;
    r.counts = counts, r.cells["relu"]["layout"].judged = judged;
    EXPECT_EQ(said(r), words) << counts.selected << " " << counts.executed;
  }
  Report r = with_failure(1, 0);
  r.counts.selected = 5, r.missing = {"a", "b"}, r.counts.missing = 3, r.quarantine = {"c", "d"};
  EXPECT_EQ(said(r, 2), "quarantined c\nquarantined d\nmissing a\nmissing b\nmissing 1 more\n");
}

TEST(VerdictLine, SaysOneAndAll) {
  Report r = with_failure(1, 0);
  r.part = {1, 2}, r.known.failed = 1, r.chosen.budget = 1;
  r.legal_selected = r.legal_not_claimed = 1000;
  for (const char* part : {"SHARD 1/2 of whole claim (no case selected yet), KNOWN FAILURES (1)\n",
           "(100.0% of the legal", "\n  mutation score of these cases unknown\n"})
    expect_contains(verdict_line(r), part);
  for (const auto& [score, words] :
      {std::pair{Score{0, 1}, "0 of 1"}, {{1230, 1240}, "1,230 of 1,240"}}) {
    r.score = score;
    expect_contains(verdict_line(r),
        "\n  at least " + std::string(words) + " listed mutants die of these cases\n");
  }
}

TEST(JudgeWhole, AsksOnlyWhatWasSelectedAndStated) {
  Report r;
  r.manifest_hash = std::string(64, 'a');
  r.kernels = {{"relu", "fast", "avx2", true}};
  r.claimed = {"relu"}, r.executed_legal["relu"] = tier_floor(1), r.paths["relu"]["fast"] = 1;
  Report other = r, prefix = r, unstated = r, unlisted = r, cases = r, part = r, unclaimed = r;
  judge_whole(r);
  EXPECT_TRUE(r.floor_judged);
  EXPECT_EQ(r.below_floor.size(), 0U);
  EXPECT_EQ(r.cells["relu"]["paths_covered"].judged, 1);
  EXPECT_EQ(r.failures.size(), 0U);
  other.chosen.properties = {"isa"}, unstated.manifest_hash = "";
  cases.chosen.cases = {"relu/in=1@8/data=1"}, part.part.of = 2, unclaimed.claimed.clear();
  for (Report* silent : {&other, &unstated}) {
    judge_whole(*silent);
    EXPECT_EQ(silent->cells.size(), 0U);
  }
  EXPECT_TRUE(unstated.floor_judged);
  for (Report* silent : {&cases, &part, &unclaimed}) judge_whole(*silent);
  prefix.chosen.budget = 1, prefix.executed_legal["relu"] = 0;
  judge_whole(prefix);
  EXPECT_EQ(prefix.below_floor.size(), 0U);
  for (const Report* silent : {&other, &prefix, &cases, &part, &unclaimed})
    EXPECT_FALSE(silent->floor_judged);
  unlisted.paths["relu"]["slow"] = 1;
  judge_whole(unlisted);
  ASSERT_EQ(unlisted.failures.size(), 1U);
  EXPECT_EQ(unlisted.failures[0].count, 1);
  EXPECT_EQ(unlisted.cells["relu"]["paths_covered"].failed, 1);
}

TEST(JudgeSilent, BlamesAnOperatorThatAnsweredOnlyTheCases) {
  Report passed, failed;
  passed.counts.executed = passed.counts.passed = failed.counts.executed = 1;
  for (Report* r : {&passed, &failed}) judge_silent(*r, {"relu"});
  EXPECT_EQ(passed.cells["relu"]["graphs"].failed, 1);
  EXPECT_EQ(passed.failures.size(), 1U);
  EXPECT_EQ(failed.failures.size(), 0U) << "its cases tell more";
}

TEST(JudgeWrongCalls, BlamesAnOperatorWhoseCasesPassed) {
  const std::map<std::string, WrongCall> wrong = {{"relu", {"relu", "relu/in=1@8/data=1", "why"}}};
  Report passed;
  passed.cells["relu"]["matches_reference"].judged = 1;
  Report failed = passed, prefix = passed, part = passed, others;
  failed.cells["relu"]["rejects"].failed = 1;
  prefix.chosen.budget = 7;
  part.part.of = 2;
  others.cells["relu"]["rejects"].judged = 1;
  for (Report* r : {&passed, &failed, &prefix, &part, &others}) judge_wrong_calls(*r, wrong);
  EXPECT_EQ(passed.cells["relu"]["graphs"].failed, 1);
  ASSERT_EQ(passed.failures.size(), 1U);
  expect_contains(passed.failures[0].text, "relu/in=1@8/data=1: why");
  for (const Report* r : {&failed, &prefix, &part, &others}) EXPECT_EQ(r->failures.size(), 0U);
}

}  // namespace
}  // namespace lockstep::judge
