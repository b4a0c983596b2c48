// How the judge carries out a run: what it asks, what it reports of each case, and when it ends.
#include <gtest/gtest.h>

#include <thread>

#include "conformance/reports/report.h"
#include "conformance/run/inbox.h"
#include "conformance/run/jobs.h"
#include "conformance/run/judge.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

TEST(Inbox, TakesOneResultOfEachCase) {
  Inbox inbox(3);
  nlohmann::ordered_json line = form::written(CaseResult{2, {}});
  EXPECT_EQ(inbox.take(line).n, 2U);
  const auto refused = [&] { return words_of<std::runtime_error>([&] { inbox.take(line); }); };
  EXPECT_EQ(refused(), "a judging process sent a result that nobody awaits") << "a second one";
  line["n"] = 3U;
  EXPECT_EQ(refused(), "a judging process sent a result that nobody awaits");
  line["n"] = -1;
  EXPECT_TRUE(refused().starts_with("a judging process sent no result: ")) << refused();
  line["n"] = 1U;
  line["outcome"] = 77;
  EXPECT_TRUE(refused().starts_with("a judging process sent no result: ")) << refused();
}

// A subject with options of its own, which are numbered as they are added.
class Optional : public ReferenceSubject {
 public:
  bool answers_again = true;
  std::vector<Options> configured;

  explicit Optional(std::vector<std::string> options) { manifest_.options = std::move(options); }
  Manifest& manifest_to_change() { return manifest_; }
  bool live() const override { return answers_again; }
  int configure(const Options& more) override {
    configured.push_back(more);
    return static_cast<int>(configured.size());
  }
};

// What a plan forces, as option=value.
std::string forced(const TrialPlan& plan) {
  std::string text;
  for (const TrialPlan::Way& way : plan.ways)
    for (const Forced& f : way.forced) text += f.option + "=" + f.value + " ";
  return text;
}

TEST(PlanFor, ForcesFewNumbersOfThreadsAndMoreThanProcessors) {
  Optional some({"threads"}), none({});
  some.manifest_to_change().threads = {1, i64{1} << 40};
  const auto processors = static_cast<i64>(std::thread::hardware_concurrency());
  std::string expected = "threads=1 threads=2 threads=3 threads=7 threads=16 ";
  for (i64 n = 16; n <= processors;) expected += "threads=" + std::to_string(n *= 2) + " ";
  EXPECT_EQ(forced(plan_for(some, {"threads"})), expected);
  EXPECT_EQ(forced(plan_for(none, {"threads"})), "");
  EXPECT_EQ(forced(plan_for(some, {"isa"})), "");
  some.manifest_to_change().threads = {2, 5};
  EXPECT_EQ(forced(plan_for(some, {"threads"})), "threads=2 threads=3 threads=5 ");
  some.manifest_to_change().threads = {i64{1} << 33, i64{1} << 40};
  EXPECT_EQ(forced(plan_for(some, {"threads"})), "threads=8589934592 ");
}

TEST(PlanFor, ForcesInstructionSetsThatCanRunWhereThereIsAChoice) {
  const std::vector<KernelInfo> kernels = {
      {"relu", "a", "portable", true}, {"relu", "b", "wide", true}, {"relu", "c", "absent", false}};
  Optional subject({"isa"}), without({});
  subject.manifest_to_change().kernels = without.manifest_to_change().kernels = kernels;
  for (const char* property : {"isa", "paths_covered"})
    EXPECT_EQ(forced(plan_for(subject, {property})), "isa=portable isa=wide ") << property;
  EXPECT_EQ(forced(plan_for(subject, {"threads"})), "");
  EXPECT_EQ(forced(plan_for(without, {"isa"})), "");
  subject.manifest_to_change().kernels.erase(subject.manifest_to_change().kernels.begin());
  EXPECT_EQ(forced(plan_for(subject, {"isa"})), "") << "but one can run";
}

// The properties that repeat a call.
std::string asking(const TrialPlan& plan) {
  std::string text;
  for (const TrialPlan::Way& way : plan.ways) text += std::string(way.property->name) + " ";
  return text;
}

TEST(PlanFor, AsksWhatTheSelectedPropertiesLookAt) {
  const std::pair<const char*, const char*> rows[] = {{"writes_all", "deterministic "},
      {"writes_in_bounds", "layout "}, {"paths_covered", "isa "}, {"matches_reference", ""},
      {"inputs_untouched", ""}, {"rejects", ""}};
  Optional subject({"isa", "threads"});
  for (const auto& [property, asked] : rows)
    EXPECT_EQ(asking(plan_for(subject, {property})), asked) << property;
  std::string all;
  for (const Property* p : kProperties)
    if (p->ask) {
      const std::string name(p->name);
      EXPECT_EQ(asking(plan_for(subject, {name})), name + " ");
      all += name + " ";
    }
  EXPECT_EQ(asking(plan_for(subject, {})), all);
  subject.answers_again = false;
  EXPECT_EQ(asking(plan_for(subject, {})), "");
}

Conduct patient() { return {.limits = {.timeout_s = 20, .start_s = 20}, .jobs = 1}; }

Selection of_relu() {
  return {.tier = 0, .operators = {"relu"}, .properties = {"matches_reference"}};
}

std::vector<std::string> ids_from(const std::vector<Item>& items, std::size_t from) {
  std::vector<std::string> ids;
  for (std::size_t k = from; k < items.size() && ids.size() < kMissingNamed; ++k)
    ids.push_back(items[k].id);
  return ids;
}

TEST(Run, EndsAtItsFirstFailureWhereThatIsAskedFor) {
  const std::vector<Item> items = select_cases(of_relu());
  Conduct c = patient();
  c.until_failure = true;
  i64 told = 0, failures = 0;
  c.progress = [&](i64, i64, i64 failed) { ++told, failures = failed; };
  const Report r = judge("null", of_relu(), items, c);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(r.counts.executed, 1);
  EXPECT_EQ(r.counts.missing, r.counts.selected - 1);
  EXPECT_EQ(r.missing, ids_from(items, 1));
  EXPECT_EQ(judge("reference", of_relu(), items, c).counts.missing, 0) << "nothing fails";
}

TEST(Run, ThatIsInterruptedNamesTheFirstThatAreMissing) {
  Conduct c = patient();
  c.interrupted = [] { return true; };
  const std::vector<Item> items = select_cases(of_relu());
  const Report r = judge("reference", of_relu(), items, c);
  EXPECT_EQ(r.verdict, "INCOMPLETE");
  EXPECT_EQ(r.counts.executed, 0);
  EXPECT_EQ(r.counts.missing, std::ssize(items));
  EXPECT_EQ(r.missing, ids_from(items, 0));
}

TEST(Run, TellsOfEveryFailureWhileItGoesOn) {
  Conduct c = patient();
  c.shrink = false;
  i64 done = 0;
  c.progress = [&](i64 now, i64, i64 failed) {
    done = now;
    EXPECT_EQ(failed, now);
  };
  EXPECT_EQ(judge("null", of_relu(), c).counts.failed, done);
  EXPECT_TRUE(Conduct().shrink);
}

TEST(Run, RecordsEveryCaseOfItsPartWhereLoadingKills) {
  Selection s = of_relu();
  s.part = {2, 3};
  std::vector<i64> recorded, expected;
  Conduct c = patient();
  c.record = [&](i64 number, const ItemResult& r) {
    EXPECT_EQ(r.outcome, Outcome::quarantined);
    recorded.push_back(number);
  };
  const Report r = judge(hostile("exits"), s, c);
  for (i64 n = 0; n < r.set_cases; ++n)
    if (s.part.holds(n)) expected.push_back(n);
  EXPECT_EQ(recorded, expected);
  EXPECT_EQ(r.counts.quarantined, std::ssize(expected));
}

TEST(Run, NamesAVectorOnlyWhereItIsAboutVectors) {
  const Selection s{.cases = {"sum-0003"}, .vectors = "conformance/vectors"};
  Conduct c = patient();
  c.shrink = false;
  for (const Failure& f : judge("null", s, c).failures)
    EXPECT_EQ(f.id == "sum-0003", f.property == "matches_vectors") << f.property << " " << f.id;
}

// A process of the judge tells the reporting process.
TEST(Run, SaysWhatBrokeAProcess) {
  const std::vector<Item> items = select_cases(of_relu());
  std::vector<const Item*> put;
  for (const Item& item : items) put.push_back(&item);
  expect_throws<std::runtime_error>(
      [&] {
        judge_in_processes("no such backend", put, {}, of_relu(), patient(), 2, nullptr,
            [](std::size_t, const ItemResult&) { return true; });
      },
      "no such backend");
}

// These operators and this backend give every property something to judge.
TEST(Canaries, ArePlantedForEveryPropertyInEveryRun) {
  const Selection s{.tier = 0,
      .operators = {"relu", "clip", "broadcast_add", "max_pool2d"},
      .vectors = "conformance/vectors"};
  const Report r = judge("faulty", s,
      {.limits = {.timeout_s = 20, .start_s = 20, .set = {{"mutant", "none"}}}, .jobs = 2});
  EXPECT_EQ(r.verdict, "PASS") << summary(r, false);
  for (const Property* p : kProperties) {
    const auto canaries = r.canaries.find(std::string(p->name));
    ASSERT_NE(canaries, r.canaries.end()) << p->name;
    EXPECT_GT(canaries->second.planted, 0) << p->name;
    EXPECT_EQ(canaries->second.noticed, canaries->second.planted) << p->name;
  }
  EXPECT_EQ(r.canaries.at("paths_covered").planted, 2);
  EXPECT_EQ(r.canaries.at("closes").planted, 8);
}

TEST(Canaries, OfKernelsArePlantedOnlyWhereTheyRanAndTheRunIsRight) {
  Report r;
  r.manifest_hash = std::string(64, 'a');
  r.kernels = {{"relu", "fast", "avx2", true}};
  Report none = r;
  r.executed_legal["relu"] = 1, r.paths["relu"]["fast"] = 1;
  Report prefix = r, wrong = r;
  prefix.chosen.budget = 1, wrong.paths["relu"]["slow"] = 1;
  for (Report* each : {&r, &prefix, &wrong, &none}) judge_whole(*each);
  const auto planted = [](const Report& each) {
    const Canaries all = all_canaries(each);
    EXPECT_EQ(all.noticed, all.planted);
    return all.planted;
  };
  EXPECT_EQ(planted(r), 2);
  EXPECT_EQ(r.paths["relu"].size() + r.kernels.size(), 2U) << "the faults leave nothing behind";
  EXPECT_EQ(planted(prefix), 1) << "a prefix may miss kernels";
  EXPECT_EQ(planted(wrong), 0);
  EXPECT_EQ(planted(none), 0);
}

}  // namespace
}  // namespace lockstep::judge
