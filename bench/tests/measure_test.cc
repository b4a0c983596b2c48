// The timer tells a slow call from a fast one, takes turns, and passes on exceptions.
#include "bench/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "bench/limits/limits.h"

namespace lockstep::bench {
namespace {

void spin(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(Measure, ContendersTakeTurns) {
  std::string order;
  // More time than any machine takes, so the number of repetitions is the requested one.
  const std::vector<Timing> times = measure(
      {[&] { order += 'a', spin(200); }, [&] { order += 'b', spin(800); }}, {0.001, 25, 1e6});
  ASSERT_EQ(times.size(), 2U);
  // A spin is never shorter than it says, however busy the machine is. It may be much longer.
  EXPECT_GE(times[0].min_ns, 200e3);
  EXPECT_GE(times[1].min_ns, 800e3);
  for (const Timing& t : times) {
    EXPECT_EQ(t.repetitions, 25);
    EXPECT_LE(t.min_ns, t.median_ns);
    EXPECT_LE(t.median_ns, t.max_ns);
  }
  // Without turns, all calls of one contender after the warm-up would come before those of the
  // other.
  int changes = 0;
  for (std::size_t k = 1; k < order.size(); ++k) changes += order[k] != order[k - 1];
  EXPECT_GT(changes, 4) << order;
}

TEST(Measure, SlowCallsAreRepeatedLess) {
  // Other work makes a call slower, never faster, so the calls are at most as many as the time
  // allows.
  const int repetitions = measure({[] { spin(20000); }}, {0.001, 9, 0.1})[0].repetitions;
  EXPECT_GE(repetitions, 3);
  EXPECT_LE(repetitions, 5);
  EXPECT_EQ(measure({[] { spin(20000); }}, {0.001, 9, 0.001})[0].repetitions, 3);
}

TEST(Measure, WaitsBeforeEachRepetition) {
  const auto begin = std::chrono::steady_clock::now();
  measure({[] {}}, {.repetition_s = 0.00001, .repetitions = 3, .pause_s = 0.02});
  // A wait is never shorter than it says.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(60));
}

TEST(Measure, WhatACallThrowsArrives) {
  int calls = 0;
  const auto fails_later = [&] {
    if (++calls > 2) throw std::runtime_error("device lost");
  };
  EXPECT_THROW(measure({fails_later, [] {}}, {0.001, 3, 1}), std::runtime_error);
  EXPECT_EQ(measure({[] { spin(10); }}, {0.001, 3, 1}).size(), 1U) << "the next run is its own";
}

TEST(Team, EveryMemberWorksOnceEachRound) {
  Team team(4);
  ASSERT_EQ(team.size(), 4);
  std::atomic<int> calls[4] = {};
  for (int round = 1; round <= 100; ++round) {
    team.run([&](int k) { ++calls[k]; });
    for (const auto& c : calls) ASSERT_EQ(c, round);
  }
}

TEST(Probes, TheBestForBytesIsTheLastOfThoseThatRun) {
  const std::vector<const Probe*> probes = runnable_probes();
  if (probes.empty()) GTEST_SKIP() << "no probe for this processor";
  std::vector<const Probe*> int8 = probes;
  std::erase_if(int8, [](const Probe* p) { return !p->int8; });
  EXPECT_EQ(int8_probe(), int8.back());
  for (const Probe* p : int8) EXPECT_EQ(int8_probe(p->isa), p) << p->isa;
  EXPECT_EQ(int8_probe("z80"), nullptr);
  for (const Probe* p : probes) {
    EXPECT_GT(p->macs_per_round, 0) << p->instructions;
    p->run(rounds_of_a_millisecond(*p));
  }
}

}  // namespace
}  // namespace lockstep::bench
