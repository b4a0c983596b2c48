// Merges, compares and refuses several reports of one run, or of two.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance/base/sha256.h"
#include "conformance/reports/report.h"
#include "conformance/tests/expect.h"
#include "conformance/verdict/expectations.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

constexpr i64 kCases = 60;
const char* const kOperators[] = {"conv2d", "relu", "sum"};

// The expectations of the run: a failure that some parts show, one that none shows, and one of
// cases that pass.
std::vector<Expectation> expected_ones() {
  std::vector<Expectation> all(3);
  for (Expectation& e : all) e.property = "isa", e.kind = "fail", e.place = "known.toml:7";
  all[0].op = "sum", all[1].op = "max", all[2].op = "*";
  all[0].reason = "an old machine", all[2].id = "case 1?";
  return all;
}

// What one case adds to a report. Every case is executed; every fifth fails, some twice.
void add_case(Report& r, i64 n) {
  const std::string op = kOperators[n % 3];
  Item item;
  item.call.op = find_operator(op), item.id = "case " + std::to_string(n);
  ItemResult result;
  ++r.counts.selected, ++r.counts.executed, ++r.legal_selected, ++r.executed_legal[op];
  r.largest_tensor[op] = std::max(r.largest_tensor[op], 100 + n * 7 % 10);
  r.counts.calls += n;
  r.outputs[op].add(sha256(std::to_string(n)));
  ++r.paths[op][n % 2 ? "fast" : "plain"];
  ++r.canaries["layout"].planted, ++r.canaries["layout"].noticed;
  if (n % 5 == 4)
    ++r.counts.failed, result.outcome = Outcome::failed;
  else
    ++r.counts.passed;
  for (const char* property : {"matches_reference", "isa"}) {
    ++r.cells[op][property].judged;
    result.judged.emplace_back(property);
    if (n % 5 == 4 && (property[0] != 'i' || n % 2 == 0))
      result.findings.emplace_back(property, Finding());
  }
  const std::vector<const Expectation*> knowing =
      match_expectations(r.expectations, item, n, result);
  for (std::size_t k = 0; k < knowing.size(); ++k) {
    const std::string property = result.findings[k].first,
                      why = knowing[k] ? knowing[k]->why() : "";
    ++r.cells[op][property].failed;
    r.failing[op][property]["fail"].add(sha256(item.id));
    const auto same = [&](const Failure& f) {
      return f.op == op && f.property == property && f.known == why;
    };
    const auto at = std::find_if(r.failures.begin(), r.failures.end(), same);
    if (at != r.failures.end())
      ++at->count;
    else
      r.failures.push_back({op, property, item.id, "", 1, {}, {}, {}, {}, {}, n, why});
  }
}

// Part `number` of a run whose parts take cases in turn; a single part is the whole run.
Report part(i64 number, i64 of) {
  Report r;
  r.backend = r.name = "toy", r.version = "1", r.set_hash = r.manifest_hash = std::string(64, 'a');
  r.kernels = {{"*", "fast", "avx2", true}, {"*", "plain", "portable", true}};
  r.environments = {{"lockstep", "Linux", "x86_64", ""}};
  r.claimed = {"conv2d", "relu", "sum"};
  r.tier = 0, r.set_cases = kCases, r.part = {number, of};
  r.operators_selected = r.operators_claimed = r.operators_all = 3;
  r.expectations = expected_ones();
  for (i64 n = number - 1; n < kCases; n += of) add_case(r, n);
  r.chosen.vectors_hash = std::string(64, 'b');
  judge_whole(r);
  conclude(r);
  return r;
}

std::vector<Named> parts(i64 of) {
  std::vector<Named> all;
  for (i64 n = 1; n <= of; ++n) all.push_back({"part" + std::to_string(n), part(n, of)});
  return all;
}

RC_GTEST_PROP(Merge, GivesTheReportOfTheWholeRun, ()) {
  const i64 of = *rc::gen::inRange<i64>(1, 9);
  std::vector<Named> all = parts(of);
  for (std::size_t k = all.size(); k > 1; --k)
    std::swap(all[k - 1], all[*rc::gen::inRange<std::size_t>(0, k)]);
  RC_ASSERT(json_report(merged(all)) == json_report(part(1, 1)));
}

TEST(Merge, JudgesWhatOnlyAWholeRunShows) {
  std::vector<Named> all = parts(2);
  // The kernels of even and of odd cases: each part ran one of the two.
  EXPECT_EQ(part(1, 1).cells.at("*").at("paths_covered").judged, 2);
  EXPECT_FALSE(all[0].report.cells.contains("*"));
  EXPECT_EQ(merged(all).cells.at("*").at("paths_covered").failed, 0);
  for (Named& n : all) n.report.kernels.push_back({"relu", "rare", "amx", true});
  EXPECT_EQ(merged(all).failures.back().text, "kernel 'rare' (isa amx) never ran");
  for (Named& n : all) n.report.executed_legal["sum"] = 1;
  EXPECT_EQ(merged(all).below_floor, std::vector<std::string>(1, "sum"));
}

TEST(Merge, JudgesTheExpectationsOfTheWholeRun) {
  std::vector<Named> all = parts(2);
  // The cases that the first entry matches are even ones.
  EXPECT_EQ(all[1].report.expectations[0].matched, 0);
  EXPECT_EQ(all[0].report.stale,
      std::vector<std::string>(1, "known.toml:7 (* isa case 1?): case 10 passes"));
  EXPECT_EQ(all[1].report.stale,
      std::vector<std::string>(1, "known.toml:7 (* isa case 1?): case 11 passes"));
  EXPECT_EQ(merged(all).stale,
      (std::vector<std::string>{"known.toml:7 (max isa) matches nothing",
          "known.toml:7 (* isa case 1?): case 10 passes"}));
  for (Named& n : all) {
    n.report.kernels.push_back({"relu", "rare", "amx", true});
    n.report.expectations[1].op = "relu", n.report.expectations[1].property = "paths_covered";
    n.report.expectations[1].reason = "no such machine";
  }
  const Report r = merged(all);
  EXPECT_EQ(r.failures.back().known, "no such machine");
  EXPECT_EQ(r.stale.size(), 1U);
  EXPECT_EQ(known_failures(r), 1) << "it is of no case";
  all[1].report.expectations[0].expired = true;
  EXPECT_EQ(merged(all).stale.front(), "known.toml:7 (sum isa) expired on ");
}

TEST(Merge, KeepsWhereEachPartRan) {
  std::vector<Named> all = parts(3);
  all[2].report.environments[0].machine = "aarch64";
  // A report may contain a machine many times.
  all[0].report.environments.resize(60, all[0].report.environments[0]);
  all[1].report.quarantine = {"sum hung"};
  all[0].report.operators_selected = all[2].report.operators_selected = 1;
  for (int k = 0; k < 30; ++k) all[k % 3].report.missing.push_back("case " + std::to_string(k));
  const Report r = merged(all);
  EXPECT_EQ(r.environments.size(), 2U);
  EXPECT_EQ(r.quarantine.size(), 1U);
  EXPECT_EQ(r.missing.size(), kMissingNamed);
  EXPECT_EQ(r.operators_selected, 3);
}

TEST(Merge, KeepsTheFirstOfWhatSeveralPartsSay) {
  std::vector<Named> all = parts(2);
  for (std::size_t k = 0; k < 2; ++k) {
    Report& r = all[k].report;
    const std::string words = k == 0 ? "got 1" : "got 2";
    r.failures = {{"sum", "isa", "case 5", words, 1, {}, {}, {}, {}, {}, 5, {}},
        {"relu", "isa", "case 5", words, 1, {}, {}, {}, {}, {}, 5, {}}};
    r.expectations[2].passed = words, r.expectations[2].passed_number = 5;
  }
  const Report r = merged(all);
  ASSERT_EQ(r.failures.size(), 2U);
  EXPECT_EQ(r.failures[0].op, "sum");
  EXPECT_EQ(r.failures[1].op, "relu");
  EXPECT_EQ(r.failures[0].text + " " + r.failures[1].text, "got 1 got 1");
  EXPECT_EQ(r.expectations[2].passed, "got 1");
}

std::string merge_refusal(const std::vector<Named>& all) {
  return words_of<UsageError>([&] { merged(all); });
}

TEST(Merge, RefusesGapsAndOverlaps) {
  std::vector<Named> gap = parts(4);
  gap.erase(gap.begin() + 1, gap.begin() + 3);
  EXPECT_EQ(merge_refusal(gap), "of 4 parts 2 are here, missing: 2, 3");
  std::vector<Named> headless = parts(4), tailless = parts(4);
  headless.erase(headless.begin()), tailless.pop_back();
  EXPECT_EQ(merge_refusal(headless), "of 4 parts 3 are here, missing: 1");
  EXPECT_EQ(merge_refusal(tailless), "of 4 parts 3 are here, missing: 4");
  std::vector<Named> twice = parts(4);
  twice.push_back(twice[2]);
  twice[4].file = "again";
  EXPECT_EQ(merge_refusal(twice), "'part3' and 'again' are both part 3 of 4");
  std::vector<Named> huge = parts(2);
  for (Named& n : huge) n.report.part.of = i64{1} << 50;
  EXPECT_EQ(merge_refusal(huge),
      "of 1125899906842624 parts 2 are here, missing: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
      "14, 15, 16, 17, 18, 19, 20, 21, 22, ...");
  std::vector<Named> less = parts(2);
  --less[0].report.counts.selected;
  EXPECT_EQ(merge_refusal(less), "the parts hold 59 cases, the set has 60");
  EXPECT_EQ(merge_refusal({}), "no report to merge");
}

TEST(Merge, RefusesPartsOfOtherRuns) {
  const std::pair<const char*, void (*)(Report&)> rows[] = {
      {"case set", [](Report& r) { r.set_hash = std::string(64, 'c'); }},
      {"order of cases", [](Report& r) { r.order_hash = std::string(64, 'c'); }},
      {"number of cases", [](Report& r) { ++r.set_cases; }},
      {"tier", [](Report& r) { r.tier = 2; }}, {"seed", [](Report& r) { r.seed = 2; }},
      {"choice of operators", [](Report& r) { r.chosen.operators = {"relu"}; }},
      {"choice of profiles", [](Report& r) { r.chosen.profiles = {"NN"}; }},
      {"choice of properties", [](Report& r) { r.chosen.properties = {"isa"}; }},
      {"budget", [](Report& r) { r.chosen.budget = 1; }},
      {"set of golden vectors", [](Report& r) { r.chosen.vectors_hash.clear(); }},
      {"backend", [](Report& r) { r.version = "2"; }},
      {"library", [](Report& r) { r.file_hash = std::string(64, 'd'); }},
      {"manifest", [](Report& r) { r.manifest_hash = std::string(64, 'e'); }},
      {"options", [](Report& r) { r.options["threads"] = "4"; }},
      {"file of expectations", [](Report& r) { r.expectations[0].reason = "another"; }},
      {"file of expectations", [](Report& r) { r.expectations.clear(); }},
      {"number of parts", [](Report& r) { r.part.of = 3; }}};
  for (const auto& [what, change] : rows) {
    std::vector<Named> all = parts(2);
    change(all[1].report);
    expect_contains(merge_refusal(all),
        std::string("'part1' and 'part2' are of different runs: the ") + what + " is '");
  }
}

std::vector<std::string> results(const Report& before, const Report& after) {
  std::vector<std::string> texts;
  for (const Change& c : changes(before, after))
    if (c.result) texts.push_back(c.text);
  return texts;
}

TEST(Diff, OfEqualRunsIsEmpty) {
  EXPECT_TRUE(changes(part(1, 1), part(1, 1)).empty());
  Report elsewhere = part(1, 1);
  elsewhere.name = "other", elsewhere.environments[0].machine = "aarch64";
  elsewhere.device = "GPU", elsewhere.options["threads"] = "2";
  elsewhere.chosen.vectors_hash = std::string(64, 'c');
  EXPECT_TRUE(results(part(1, 1), elsewhere).empty());
  EXPECT_EQ(changes(part(1, 1), elsewhere).size(), 5U);
}

TEST(Diff, NamesEveryResultThatChanged) {
  using Texts = std::vector<std::string>;
  const Report before = part(1, 1);
  const std::pair<void (*)(Report&), Texts> rows[] = {
      {[](Report& r) { r.verdict = "PASS"; }, {"verdict: FAIL -> PASS"}},
      {[](Report& r) { r.set_hash = std::string(64, 'c'), r.set_cases = 1234; },
          {"other cases: 60 in set aaaaaaaaaaaaaaaa -> 1,234 in set cccccccccccccccc"}},
      {[](Report& r) { r.part.of = 2; }, {"part: 1 of 1 -> 1 of 2"}},
      {[](Report& r) { r.cells["relu"]["isa"].failed = 0; },
          {"relu isa fails no more: 2 cases did"}},
      {[](Report& r) { r.cells["relu"]["isa"].failed = 9; }, {"relu isa fails in 2 -> 9 cases"}},
      {[](Report& r) {
         r.cells["max"]["isa"] = Cell{5, 3};
       },
          {"max isa fails now: 3 of 5 cases", "max isa judged in 0 -> 5 cases"}},
      {[](Report& r) { r.cells.erase("*"); }, {"* paths_covered judged in 2 -> 0 cases"}},
      {[](Report& r) { r.quarantine = {"sum hung"}; }, {"quarantined:  -> sum hung"}},
      {[](Report& r) { r.counts.missing = 4; }, {"missing: 0 -> 4"}},
      {[](Report& r) { r.outputs.erase("sum"); },
          {"outputs of sum: 20 calls, " + before.outputs.at("sum").sum.substr(0, 16) +
              " -> none"}}};
  for (const auto& [change, texts] : rows) {
    Report after = before;
    change(after);
    EXPECT_EQ(results(before, after), texts);
  }
  Report other = before;
  other.outputs["sum"].sum[0] ^= 1;
  EXPECT_EQ(differing_outputs(before, other), Texts(1, "sum"));
  EXPECT_EQ(results(before, other).size(), 1U);
}

TEST(Diff, CountsFromNoneToOne) {
  using Texts = std::vector<std::string>;
  Report before = part(1, 1);
  before.cells = {{"relu", {{"isa", {2, 0}}}}}, before.set_hash = "0123456789abcdefg";
  Report after = before, gone = before;
  after.cells["relu"]["isa"] = {1, 1}, after.set_hash = "fedcba9876543210g";
  EXPECT_EQ(results(before, after),
      (Texts{"other cases: 60 in set 0123456789abcdef -> 60 in set fedcba9876543210",
          "relu isa fails now: 1 of 1 cases", "relu isa judged in 2 -> 1 cases"}));
  after.set_hash = before.set_hash;
  before.cells["relu"]["isa"].judged = 1;
  EXPECT_EQ(results(after, before), Texts(1, "relu isa fails no more: 1 cases did"));
  gone.cells.clear();
  EXPECT_EQ(results(after, gone),
      (Texts{"relu isa fails in 1 -> 0 cases", "relu isa judged in 1 -> 0 cases"}));
}

TEST(DigestLine, ChangesWithEveryOutput) {
  const Report r = part(1, 1);
  EXPECT_EQ(digest_line(r), "60 calls  set " + r.set_hash + "  outputs " + digest_of(r));
  Report other = r;
  other.outputs["relu"].sum[63] ^= 1;
  EXPECT_NE(digest_of(other), digest_of(r));
}

}  // namespace
}  // namespace lockstep::judge
