// A file keeps all results, the schema describes them, and the comparison fails if, and only if, a
// row got slower.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

using nlohmann::json;

Timing timing(double ns) { return {ns, ns * 0.99, ns * 1.01, 9}; }

Measurement full_row(double ns = 1000, double limit_ns = 500) {
  Measurement r;
  r.op = "conv2d";
  r.workload = "small";
  r.family = "matrix";
  r.call = "conv2d/channels=1/...";
  r.backend = "cpu";
  r.isa = "avx2";
  r.path = "conv2d_avx2";
  r.unit = "mac";
  r.units = 4000;
  r.bytes = 96;
  r.compared = 16;
  r.time = timing(ns);
  r.scratch_bytes = 5'220'000;
  r.operators = {{"conv2d", 750}, {"relu", 245}, {"flatten", 5}};
  r.limit = "vpmaddwd ymm";
  r.limit_ns = limit_ns;
  r.peers = {{"oneDNN", "own layout", "jit", "", 2, 16, timing(2000)},
      {"oneDNN", "int32 rows", "ref:any", "no peer", 0, 16, {}}};
  return r;
}

Measurement troubled_row() {
  Measurement r = full_row();
  r.workload = "wrong";
  r.trouble = "WRONG";
  r.failed = true;
  r.time = {};
  r.peers = {};
  return r;
}

Results run_of(std::vector<Measurement> rows) {
  return {
      "2026-11-21 12:00 UTC", "AMD EPYC", "12.2.0", "oneDNN 2.6.3", 2, 0.5, std::move(rows), {}};
}

TEST(Results, ComeBackAsTheyWere) {
  const std::string text = json_of(run_of({full_row(), troubled_row()}));
  EXPECT_EQ(json_of(results_of(text)), text);
}

TEST(Results, WithAMemberLessOrMoreAreRefused) {
  const json whole = json::parse(json_of(run_of({full_row()})));
  for (const char* object :
      {"", "/machine", "/rows/0", "/rows/0/limit", "/rows/0/peers/0", "/means/0"}) {
    const json::json_pointer at(object);
    for (const auto& [key, value] : whole[at].items()) {
      // What may be absent.
      if (key == "limit" || key == "bytes" || key == "operators" || key == "scratch_bytes")
        continue;
      json less = whole;
      less[at].erase(key);
      EXPECT_THROW(results_of(less.dump()), std::logic_error) << object << "/" << key;
    }
    json more = whole;
    more[at]["unknown"] = 1;
    EXPECT_THROW(results_of(more.dump()), std::logic_error) << object;
  }
  EXPECT_THROW(results_of("[]"), std::logic_error);
  EXPECT_THROW(results_of("{"), std::logic_error);
  json other = whole;
  other["schema"] = 1;
  EXPECT_THROW(results_of(other.dump()), std::logic_error);
}

TEST(Results, FailWhereARowFailsOrNoneWasTimed) {
  Measurement fine = full_row();
  fine.peers.pop_back();
  EXPECT_FALSE(run_of({fine}).fails());
  EXPECT_TRUE(run_of({}).fails());
  EXPECT_TRUE(run_of({fine, troubled_row()}).fails());
  EXPECT_TRUE(run_of({full_row()}).fails()) << "a peer that is none";
  Measurement absent = troubled_row();
  absent.failed = false;
  EXPECT_FALSE(run_of({fine, absent}).fails()) << "what a backend does not offer is no failure";
  EXPECT_TRUE(run_of({absent}).fails());
}

bool passes(const Measurement& before, const Measurement& now) {
  return compare(run_of({before}), run_of({now}), 15).passed;
}

TEST(Compare, FailsWhereARowGotSlower) {
  EXPECT_TRUE(passes(full_row(1000), full_row(1000)));
  EXPECT_TRUE(passes(full_row(1000), full_row(1140)));
  EXPECT_TRUE(passes(full_row(1000), full_row(100)));
  EXPECT_FALSE(passes(full_row(1000), full_row(1160)));
  const Comparison c = compare(run_of({full_row(1000)}), run_of({full_row(2000)}), 15);
  EXPECT_NE(c.text.find("SLOWER"), std::string::npos) << c.text;
  EXPECT_NE(c.text.find("2.00 times"), std::string::npos) << c.text;
}

TEST(Compare, TimesAreMultiplesOfTheLimit) {
  EXPECT_TRUE(passes(full_row(1000, 500), full_row(2000, 1000))) << "all of it at half the speed";
  EXPECT_FALSE(passes(full_row(1000, 500), full_row(1000, 250))) << "only the machine is faster";
}

TEST(Compare, ARepetitionAsFastAsBeforeIsNoRegression) {
  Measurement noisy = full_row(2000);
  noisy.time.min_ns = 1000;
  EXPECT_TRUE(passes(full_row(1000), noisy));
}

TEST(Compare, WhatIsGoneFails) {
  EXPECT_FALSE(compare(run_of({full_row()}), run_of({}), 15).passed);
  Measurement wrong = full_row();
  wrong.trouble = "WRONG";
  EXPECT_FALSE(passes(full_row(), wrong));
  Measurement other = full_row();
  other.workload = "other";
  EXPECT_FALSE(compare(run_of({full_row(), other}), run_of({full_row()}), 15).passed);
  EXPECT_TRUE(compare(run_of({full_row()}), run_of({full_row(), other}), 15).passed);
}

TEST(Compare, WhatCannotBeComparedIsNotAndNothingComparedFails) {
  const std::function<void(Measurement&)> changes[] = {
      [](Measurement& r) { r.call = "another call"; },
      [](Measurement& r) { r.limit = "vpdpbusd zmm"; },
      [](Measurement& r) { r.trouble = "not offered", r.failed = false; }};
  for (const auto& change : changes) {
    Measurement old = full_row(1);
    change(old);
    EXPECT_FALSE(passes(old, full_row(1000)));
    Measurement kept = full_row();
    kept.workload = "kept";
    const Comparison c = compare(run_of({old, kept}), run_of({full_row(1000), kept}), 15);
    EXPECT_TRUE(c.passed) << c.text;
    EXPECT_NE(c.text.find("1 compared, 0 slower"), std::string::npos) << c.text;
    EXPECT_NE(c.text.find("1 not compared"), std::string::npos) << c.text;
  }
}

TEST(Compare, WithoutALimitOnlyOnOneKindOfProcessor) {
  Measurement tiny = full_row(1000);
  tiny.limit = "";
  Results elsewhere = run_of({tiny});
  elsewhere.processor = "another";
  EXPECT_TRUE(compare(run_of({tiny}), run_of({tiny}), 15).passed);
  EXPECT_FALSE(compare(elsewhere, run_of({tiny}), 15).passed) << "nothing compared";
  elsewhere.rows = {full_row()};
  EXPECT_TRUE(compare(elsewhere, run_of({full_row()}), 15).passed);
}

Measurement row_beside(double ns, double first, double second, i64 different) {
  Measurement r = full_row(ns, ns / 2);
  r.peers = {{"A", "rows", "", "", 0, 16, timing(first)},
      {"B", "rows", "", "", different, 16, timing(second)}};
  return r;
}

// The mean of the rows' ratios to what they are compared with under this name.
Mean mean(const std::vector<Measurement>& rows, const std::string& against) {
  for (const Mean& m : means_of(rows))
    if (m.against == against) return m;
  return {};
}

TEST(Means, AreGeometricAndByWhatARowIsComparedWith) {
  const std::vector<Measurement> rows{
      row_beside(100, 200, 100, 0), row_beside(100, 800, 400, 3), troubled_row()};
  EXPECT_NEAR(mean(rows, "A rows").ratio, 4, 1e-9);
  EXPECT_NEAR(mean(rows, "B rows").ratio, 2, 1e-9);
  // In the second row B is wrong, so A is the fastest.
  EXPECT_NEAR(mean(rows, "the fastest exact rows").ratio, std::sqrt(8), 1e-9);
  EXPECT_NEAR(mean(rows, "limit").ratio, 0.5, 1e-9);
  EXPECT_EQ(mean(rows, "limit").rows, 2);
  EXPECT_EQ(mean(rows, "limit").family, "matrix");
  EXPECT_EQ(means_of(rows).size(), 4U);
}

TEST(Means, AreApartByInstructionSetAndThreads) {
  Measurement one = row_beside(100, 200, 200, 0), two = one, other = one;
  two.threads = 2;
  other.isa = "avx512";
  EXPECT_EQ(means_of({one, two, other}).size(), 3 * means_of({one}).size());
  other.family = "";
  EXPECT_EQ(means_of({one, other}).size(), means_of({one}).size());
}

TEST(Means, APeerThatIsTheLimitStandsOnce) {
  Measurement r = full_row();
  r.peers = {{.name = "memcpy", .time = timing(500)}};
  r.limit = "memcpy";
  ASSERT_EQ(means_of({r}).size(), 1U);
  EXPECT_EQ(means_of({r})[0].against, "memcpy");
  EXPECT_NE(table_means(means_of({r})).find("0.50"), std::string::npos);
  r.limit = "another";
  EXPECT_EQ(means_of({r}).size(), 2U);
  EXPECT_NE(table_means(means_of({r})).find("50.0%"), std::string::npos);
}

TEST(Markdown, HasALineForEachRowAndMean) {
  Measurement memory = full_row();
  memory.workload = "other";
  memory.family = "";
  const std::string text = markdown_of(run_of({full_row(), troubled_row(), memory}));
  for (const char* line : {"| matrix | cpu | avx2 | 1 | limit | 1 | 50.0% |",
           "| conv2d/small | avx2 | 1 | 0.00 MMAC | 500.0 ns | 1.00 us | 4.00 GMAC/s | 50.0% | "
           "conv2d_avx2 | oneDNN own layout 2.00 us: 2.00 (inexact) |",
           "| conv2d/wrong | avx2 | 1 | WRONG |"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  EXPECT_EQ(text.find("conv2d/other"), std::string::npos) << "other work is not in these tables";
}

TEST(Table, SaysWhatTheOperatorsOfAGraphTake) {
  EXPECT_NE(
      table_row(full_row()).find("  5.22 MB of scratch; conv2d 75%, relu 24%\n"), std::string::npos)
      << table_row(full_row());
}

TEST(Table, SaysWhatAPeerIsAndWhatWentWrong) {
  const std::string row = table_row(full_row());
  for (const char* text : {"conv2d/small", "conv2d_avx2", "4.00 GMAC/s", "INEXACT 2 of 16", "(jit)",
           "2.00", "50.0%", "no peer"})
    EXPECT_NE(row.find(text), std::string::npos) << text << " in\n" << row;
  const std::string wrong = table_row(troubled_row());
  EXPECT_NE(wrong.find("WRONG"), std::string::npos);
  EXPECT_EQ(wrong.find("GMAC/s"), std::string::npos) << "a time for a wrong result: " << wrong;
}

}  // namespace
}  // namespace lockstep::bench
