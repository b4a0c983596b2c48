// Which cases a run selects, which verdict follows from their results, and how the report says so.
#include "conformance/run/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/large.h"
#include "conformance/reports/report.h"
#include "conformance/run/agenda.h"
#include "conformance/run/jobs.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

// A run without a fault, for tests to spoil.
Report passing() {
  Report r;
  r.backend = r.name = "toy";
  r.version = "1.2";
  r.tier = 0;
  r.seed = 7;
  r.set_hash = "0123456789abcdef0123456789abcdef";
  r.operators_selected = r.operators_all = 16;
  r.operators_claimed = 3;
  r.counts.selected = 1234567;
  r.counts.executed = r.counts.passed = 1000000;
  r.counts.not_claimed = 234567;
  r.counts.calls = 5000000;
  r.legal_selected = 800000;
  r.legal_not_claimed = 100000;
  r.canaries["matches_reference"] = {16, 16};
  r.cells["relu"]["matches_reference"].judged = 1000000;
  return r;
}

void blind(Report& r) { r.canaries["layout"] = {4, 3}; }
void missing(Report& r) { r.counts.missing = 1; }
void below_floor(Report& r) {
  r.floor_judged = true;
  r.below_floor = {"relu"};
}
void unjudged(Report& r) { r.cells.clear(); }
void empty(Report& r) {
  r.counts = {};
  r.cells.clear();
}
void one_case(Report& r) {
  r.counts = {};
  r.counts.selected = r.counts.executed = r.counts.passed = 1;
  r.cells["relu"]["matches_reference"].judged = 1;
}
void crashed(Report& r) { r.counts.crashed = 1; }
void timed_out(Report& r) { r.counts.timed_out = 1; }
void quarantined(Report& r) { r.counts.quarantined = 1; }
void known_quarantine(Report& r) { r.counts.quarantined = r.known.quarantined = 1; }
void known_hang(Report& r) { r.counts.timed_out = r.known.timed_out = 1; }
void fail(Report& r, const char* property) {
  r.failures.push_back({"relu", property, "relu/in=1@8", "is wrong", 1, {}, {}, {}});
}
void differing(Report& r) { fail(r, "deterministic"); }
void failed(Report& r) {
  r.counts.failed = 1;
  fail(r, "matches_reference");
}
void uncovered(Report& r) { fail(r, "paths_covered"); }
void stale_entry(Report& r) { r.expectations.emplace_back().expired = true; }
void known_one(Report& r) {
  failed(r);
  r.failures.back().known = "it is slow";
  r.known.failed = 1;
}

using Spoiled = std::vector<void (*)(Report&)>;

TEST(Conclude, FollowsThePrecedenceOfExitCodes) {
  const std::tuple<const char*, Spoiled, const char*, Exit> rows[] = {
      {"nothing", {}, "PASS", Exit::pass}, {"a failed case", {failed}, "FAIL", Exit::fail},
      {"a failure of the run", {uncovered}, "FAIL", Exit::fail},
      {"another answer", {differing}, "NONDETERMINISTIC", Exit::fail},
      {"a crash", {crashed}, "CRASH", Exit::fail}, {"a hang", {timed_out}, "TIMEOUT", Exit::fail},
      {"a hang beside a crash", {timed_out, crashed}, "CRASH", Exit::fail},
      {"a quarantine", {quarantined}, "CRASH", Exit::fail},
      {"a case", {one_case}, "PASS", Exit::pass},
      {"a case that nothing judged", {one_case, unjudged}, "INCOMPLETE", Exit::incomplete},
      {"a case and a quarantine", {one_case, quarantined}, "CRASH", Exit::fail},
      {"a known quarantine", {one_case, known_quarantine}, "PASS", Exit::known_failures},
      {"a known hang", {one_case, known_hang}, "PASS", Exit::known_failures},
      {"nothing but a quarantine", {empty, quarantined}, "CRASH", Exit::fail},
      {"crashes that nothing judged", {unjudged, crashed}, "CRASH", Exit::fail},
      {"a case without result", {missing}, "INCOMPLETE", Exit::incomplete},
      {"too few cases", {below_floor}, "INCOMPLETE", Exit::incomplete},
      {"no case", {empty}, "INCOMPLETE", Exit::incomplete},
      {"no judgement", {unjudged}, "INCOMPLETE", Exit::incomplete},
      {"a canary that lived", {blind}, "BROKEN", Exit::judge_broke},
      {"4 before 3", {blind, missing}, "BROKEN", Exit::judge_broke},
      {"4 before an empty 3", {empty, blind}, "BROKEN", Exit::judge_broke},
      {"4 before 1", {blind, crashed, differing, failed}, "BROKEN", Exit::judge_broke},
      {"3 before a crash", {missing, crashed}, "INCOMPLETE", Exit::incomplete},
      {"3 before a quarantine", {missing, quarantined}, "INCOMPLETE", Exit::incomplete},
      {"3 before a failure", {below_floor, failed}, "INCOMPLETE", Exit::incomplete},
      {"a floor missed by quarantine", {below_floor, quarantined}, "CRASH", Exit::fail},
      {"a floor missed beside a crash", {below_floor, crashed}, "INCOMPLETE", Exit::incomplete},
      {"a crash before the rest", {crashed, differing, failed}, "CRASH", Exit::fail},
      {"the reason of a failure", {differing, failed}, "NONDETERMINISTIC", Exit::fail},
      {"a stale expectation", {stale_entry}, "STALE", Exit::stale},
      {"a known failure", {known_one}, "PASS", Exit::known_failures},
      {"3 before 5", {missing, stale_entry}, "INCOMPLETE", Exit::incomplete},
      {"1 before 5", {failed, stale_entry}, "FAIL", Exit::fail},
      {"1 before 6", {known_one, uncovered}, "FAIL", Exit::fail},
      {"5 before 6", {known_one, stale_entry}, "STALE", Exit::stale}};
  for (const auto& [name, spoiled, verdict, exit] : rows) {
    Report r = passing();
    for (auto* spoil : spoiled) spoil(r);
    conclude(r);
    EXPECT_EQ(r.verdict, verdict) << name;
    EXPECT_EQ(r.exit, exit) << name;
  }
}

TEST(Conclude, LetsAWrongQuestionPrecedeAnEmptyOne) {
  Selection none{.properties = {"matches_vectors"}};
  const Report r = judge("reference", none, {});
  EXPECT_EQ(r.exit, Exit::incomplete);
  EXPECT_EQ(r.counts.selected + r.counts.executed, 0);
  EXPECT_THROW(judge("no such backend", none, {}), UsageError);
  none.operators = {"nope"};
  EXPECT_THROW(judge("reference", none, {}), UsageError);
}

TEST(VerdictLine, SaysWhatAPassIsAbout) {
  Report r = passing();
  r.floor_judged = true;
  r.largest_tensor = {{"abs", 9}, {"relu", (1 << 20) + 1}, {"sum", 7}};
  conclude(r);
  EXPECT_EQ(verdict_line(r),
      "PASS  toy 1.2  whole claim (3 of 16 operators)\n"
      "  1,234,567 selected: 1,000,000 executed, 234,567 not claimed (12.5% of the legal "
      "calls), 0 missing, 0 quarantined\n"
      "  1,000,000 executed: 1,000,000 passed, 0 failed, 0 crashed, 0 timed out; 5,000,000 "
      "calls\n"
      "  tier 0, seed 7, canaries 16/16, floor 3 per operator met, judged up to 1,048,577 "
      "elements, set 0123456789abcdef\n"
      "  1 of 22 properties judged: matches_reference\n"
      "  exit 0 (pass)");
}

TEST(VerdictLine, SaysWhatAPartIsAPartOf) {
  Report r = passing();
  r.determinism = "D1";
  r.partial = true;
  r.operators_selected = 2;
  r.counts = {};
  r.counts.selected = 999;
  r.counts.executed = 10;
  r.counts.passed = 1, r.counts.failed = 2, r.counts.crashed = 3, r.counts.timed_out = 4;
  r.counts.not_claimed = 20, r.counts.missing = 5, r.counts.quarantined = 6, r.counts.calls = 7;
  r.legal_selected = 0;
  r.floor_judged = true;
  r.below_floor = {"relu"};
  r.canaries = {{"matches_reference", {12, 2}}, {"laws", {4, 1}}};
  conclude(r);
  EXPECT_EQ(verdict_line(r),
      "BROKEN  toy 1.2  SUBSET (2 of 16 operators), determinism D1\n"
      "  999 selected: 10 executed, 20 not claimed (0.0% of the legal calls), 5 missing, "
      "6 quarantined\n"
      "  10 executed: 1 passed, 2 failed, 3 crashed, 4 timed out; 7 calls\n"
      "  tier 0, seed 7, canaries 3/16, floor 3 per operator NOT met, set 0123456789abcdef\n"
      "  1 of 22 properties judged: matches_reference\n"
      "  canaries of laws: 1 of 4 noticed\n"
      "  canaries of matches_reference: 2 of 12 noticed\n"
      "  exit 4 (judge broke)");
}

TEST(Summary, ShowsTheFirstFailuresAndCountsTheRest) {
  Report r = passing();
  for (int k = 0; k < 13; ++k) failed(r);
  conclude(r);
  const std::string plain = summary(r, false), coloured = summary(r, true);
  EXPECT_EQ(count_of(plain, "relu violates"), 10);
  EXPECT_NE(plain.find("\n3 more kinds of failure are in the report"), std::string::npos);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(coloured.find("\033[1;31mFAIL\033[0m  toy"), std::string::npos);
}

Selection smoke() { return {.tier = 0}; }

std::vector<std::string> ids(const Selection& s) {
  std::vector<std::string> all;
  for (const Item& i : select_cases(s)) all.push_back(i.id);
  return all;
}

TEST(SelectCases, TakesABudgetFromTheFront) {
  const std::vector<std::string> all = ids(smoke());
  for (i64 budget : {1, 17, 200}) {
    Selection s = smoke();
    s.budget = budget;
    const std::vector<std::string> some = ids(s);
    ASSERT_EQ(some.size(), static_cast<std::size_t>(budget));
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    EXPECT_TRUE(s.partial());
  }
  Selection s = smoke();
  s.budget = static_cast<i64>(all.size()) + 1;
  EXPECT_EQ(ids(s), all);
}

TEST(SelectCases, IsFixedByItsSeed) {
  Selection s{.tier = 0, .operators = {"relu", "sum"}};
  const std::string first = set_hash(select_cases(s));
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(set_hash(select_cases(s)), first);
  std::vector<Item> turned = select_cases(s);
  std::swap(turned[0], turned[1]);
  EXPECT_EQ(set_hash(turned), first) << "the order is a matter of the run";
  EXPECT_NE(order_hash(turned), order_hash(select_cases(s)));
  EXPECT_EQ(order_hash(select_cases(s, 3)), order_hash(select_cases(s)));
  turned.push_back(turned[0]);
  EXPECT_NE(set_hash(turned), first) << "a case that is put twice counts twice";
  s.seed = 2;
  EXPECT_NE(set_hash(select_cases(s)), first);
}

TEST(SelectCases, LetsOperatorsTakeTurns) {
  const std::vector<Item> items = select_cases(smoke());
  const auto n = operators().size();
  const auto rounds = static_cast<std::size_t>(tier_size(0).legal);
  ASSERT_GE(items.size(), n * rounds);
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < n; ++k)
      ASSERT_EQ(items[round * n + k].call.op, items[k].call.op) << round;
  std::set<const OpInfo*> first;
  for (std::size_t k = 0; k < n; ++k) first.insert(items[k].call.op);
  EXPECT_EQ(first.size(), n);
}

TEST(SelectCases, KnowsWhatAPropertyNeeds) {
  Selection s{.tier = 0, .properties = {"rejects"}};
  const std::vector<Item> illegal = select_cases(s);
  EXPECT_GT(illegal.size(), operators().size());
  for (const Item& i : illegal) ASSERT_EQ(i.what, Item::illegal) << i.id;
  s.properties = {"layout"};
  const std::vector<Item> legal = select_cases(s);
  EXPECT_EQ(legal.size(), operators().size() * static_cast<std::size_t>(tier_size(0).legal));
  for (const Item& i : legal) ASSERT_EQ(i.what, Item::legal) << i.id;
  s.properties = {"matches_vectors"};
  EXPECT_TRUE(select_cases(s).empty());
  s.properties = {"matches_vectors", "nope"};
  EXPECT_THROW(select_cases(s), UsageError);
}

TEST(SelectCases, TakesExplicitCasesAsTheyAre) {
  Selection s{.cases = {"relu/in=1@8/fill=one:0", "relu/in=0@8/fill=one:0"}};
  const std::vector<Item> items = select_cases(s);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].what, Item::legal);
  EXPECT_EQ(items[1].what, Item::illegal);
  EXPECT_EQ(items[1].label, refusal(items[1].call).label());
  s.cases = {"relu/in=1@8/fill=one:0", "garbage"};
  EXPECT_THROW(select_cases(s), UsageError);
}

// A subject in this process that ends as it is told where it meets a vector of three elements.
class Mortal : public ReferenceSubject {
 public:
  explicit Mortal(AnswerKind end) : end_(end) {}
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    if (c.in[0].dim(0) == 3) return dead();
    return ReferenceSubject::execute(c, in, out, run);
  }
  Answer refuse(const Case&) override { return dead(); }

 private:
  Answer dead() const { return {.kind = end_, .message = "gone"}; }
  AnswerKind end_;
};

using Properties = std::vector<std::string>;

ItemResult result_of(Subject& subject, const char* id, const Properties& wanted = {}) {
  const std::vector<Item> items = select_cases({.cases = {id}});
  return judge_trial(perform(subject, items[0], plan_for(subject, {})), wanted);
}

TEST(JudgeTrial, TellsHowACaseEnded) {
  Mortal crash(AnswerKind::crashed), hang(AnswerKind::timed_out), error(AnswerKind::runtime_error);
  const char *fatal = "relu/in=3@8/data=1,2,3", *harmless = "relu/in=2@8/data=1,2";
  const char* illegal = "relu/in=0@8/fill=one:0";
  EXPECT_EQ(result_of(crash, harmless).outcome, Outcome::passed);
  EXPECT_EQ(result_of(crash, fatal).outcome, Outcome::crashed);
  EXPECT_EQ(result_of(hang, fatal).outcome, Outcome::timed_out);
  EXPECT_EQ(result_of(error, fatal).outcome, Outcome::failed);
  EXPECT_EQ(result_of(crash, illegal).outcome, Outcome::crashed);
  EXPECT_EQ(result_of(hang, illegal).outcome, Outcome::timed_out);
}

TEST(JudgeTrial, TellsADeathThatNoSelectedPropertyJudges) {
  Mortal crash(AnswerKind::crashed);
  const Properties only = {"infers"};
  const ItemResult dead = result_of(crash, "relu/in=3@8/data=1,2,3", only);
  ASSERT_EQ(dead.findings.size(), 1U);
  EXPECT_EQ(dead.findings[0].first, "matches_reference");
  EXPECT_EQ(dead.findings[0].second.text, "crashed: gone");
  EXPECT_TRUE(result_of(crash, "relu/in=2@8/data=1,2", only).judged.empty());
}

TEST(Quarantine, FollowsDeaths) {
  const auto noted = [](Quarantine& q, const char* op, Outcome outcome, int times) {
    for (int k = 0; k < times; ++k) q.note(op, outcome, "gone");
  };
  Quarantine silent, mute, mortal, printing;
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(printing.reason("sum"), "");
    printing.note("relu", Outcome::failed, "answered printed: 'hello'", AnswerKind::printed);
  }
  EXPECT_EQ(printing.reason("sum"), "answered printed: 'hello' (3 times)");
  noted(silent, "relu", Outcome::crashed, 2);
  EXPECT_EQ(silent.reason("relu"), "");
  noted(silent, "take", Outcome::crashed, 1);
  EXPECT_EQ(silent.reason("relu"), "the backend never answered: gone");
  Quarantine silent_flood, flood;
  const auto floods = [](Quarantine& q, const char* op, int times) {
    for (int k = 0; k < times; ++k) q.note(op, Outcome::failed, "x", AnswerKind::broken_channel);
  };
  floods(silent_flood, "relu", 2);
  EXPECT_EQ(silent_flood.reason("relu"), "");
  floods(silent_flood, "take", 1);
  EXPECT_EQ(silent_flood.reason("sum"), "the backend never answered: x");
  noted(flood, "relu", Outcome::passed, 1);
  floods(flood, "relu", 3), floods(flood, "take", 2);
  EXPECT_EQ(flood.reason("relu"), "relu broke its channel 3 times");
  EXPECT_EQ(flood.reason("take"), "");
  for (const char* op : {"max", "min", "conv2d"}) floods(flood, op, op[1] == 'o' ? 1 : 2);
  EXPECT_EQ(flood.reason("sum"), "the backend breaks its channel too often");
  noted(mute, "relu", Outcome::timed_out, 1);
  EXPECT_EQ(mute.reason("sum"), "the backend never answered: gone");
  noted(mortal, "relu", Outcome::failed, 1);
  noted(mortal, "relu", Outcome::timed_out, 2), noted(mortal, "take", Outcome::crashed, 9);
  EXPECT_EQ(mortal.reason("relu") + mortal.reason("take"), "");
  noted(mortal, "relu", Outcome::timed_out, 1), noted(mortal, "take", Outcome::crashed, 1);
  EXPECT_EQ(mortal.reason("relu"), "relu hung 3 times");
  EXPECT_EQ(mortal.reason("take"), "take crashed 10 times");
  EXPECT_EQ(mortal.reason("sum"), "");
  for (const char* op : {"max", "min", "conv2d"}) noted(mortal, op, Outcome::timed_out, 2);
  EXPECT_EQ(mortal.reason("sum"), "");
  noted(mortal, "dense", Outcome::timed_out, 1);
  EXPECT_EQ(mortal.reason("sum"), "the backend hangs too often");
}

TEST(Agenda, IsSharedByJudgesAndHiddenFromBackends) {
  Agenda agenda;
  const OpInfo &relu = *find_operator("relu"), &sum = *find_operator("sum");
  const int first = status_of([&] {
    agenda.set_aside(relu);
    if (agenda.take() != 0 || agenda.take() != 1) _exit(1);
  });
  EXPECT_EQ(first, 0);
  EXPECT_EQ(agenda.take(), 2u) << "no case is taken twice";
  EXPECT_TRUE(agenda.is_aside(relu));
  EXPECT_FALSE(agenda.is_aside(sum));
  const int judge = status_of([&] {
    agenda.keep_from_children();
    if (status_of([&] { agenda.set_aside(sum); }) == 0) _exit(1);
  });
  EXPECT_EQ(judge, 0) << "a backend must not get at it";
  EXPECT_FALSE(agenda.is_aside(sum));
}

TEST(Judge, CountsEveryCaseOnce) {
  const Selection s{.tier = 0, .operators = {"relu", "take"}};
  Conduct c{.limits = {.timeout_s = 20, .start_s = 20}, .jobs = 2};
  i64 last = 0, all = 0;
  c.progress = [&](i64 done, i64 of, i64 failures) {
    EXPECT_EQ(done, last + 1);
    EXPECT_EQ(failures, 0);
    last = done, all = of;
  };
  const Report r = judge("reference", s, c);
  EXPECT_EQ(r.verdict, "PASS") << summary(r, false);
  EXPECT_EQ(r.name, "reference");
  EXPECT_EQ(r.manifest_hash.size(), 64U);
  EXPECT_EQ(r.set_hash, set_hash(select_cases(s)));
  EXPECT_EQ(r.counts.selected, static_cast<i64>(select_cases(s).size()));
  EXPECT_EQ(r.counts.executed, r.counts.selected);
  EXPECT_EQ(r.counts.passed, r.counts.selected);
  EXPECT_EQ(last, r.counts.selected);
  EXPECT_EQ(all, r.counts.selected);
  EXPECT_GT(r.counts.calls, 2 * r.counts.executed);
  EXPECT_EQ(r.executed_legal.at("relu"), tier_size(0).legal);
  i64 largest = 0;
  for (const Item& i : select_cases(s))
    if (i.call.op->name == "relu" && i.runs()) largest = std::max(largest, largest_tensor(i.call));
  EXPECT_EQ(r.largest_tensor.at("relu"), largest);
  EXPECT_EQ(r.cells.at("relu").at("matches_reference").judged, tier_size(0).legal);
  EXPECT_EQ(r.operators_selected, 2);
  for (const auto& [property, cell] : r.cells.at("relu"))
    EXPECT_GT(r.canaries.at(property).planted, 0) << property;
  EXPECT_EQ(r.canaries.at("matches_reference").planted, 16);
  EXPECT_EQ(all_canaries(r).noticed, all_canaries(r).planted);
}

TEST(Judge, GathersFailuresByOperatorAndProperty) {
  const Selection s{
      .tier = 0, .operators = {"relu"}, .properties = {"matches_reference", "deterministic"}};
  const Report r = judge("null", s, {.limits = {.timeout_s = 20, .start_s = 20}, .shrink = false});
  EXPECT_EQ(r.exit, Exit::fail);
  const auto found = std::find_if(r.failures.begin(), r.failures.end(),
      [](const Failure& f) { return f.property == "matches_reference"; });
  ASSERT_NE(found, r.failures.end());
  EXPECT_EQ(found->op, "relu");
  EXPECT_EQ(found->count, tier_size(0).legal);
  EXPECT_EQ(found->count, r.cells.at("relu").at("matches_reference").failed);
  EXPECT_TRUE(found->shrunk.empty());
  EXPECT_EQ(found->id, select_cases(s)[0].id) << "the first case that shows it";
  EXPECT_EQ(found->repeat, "lockstep repro null --property matches_reference '" + found->id + "'");
}

}  // namespace
}  // namespace lockstep::judge
