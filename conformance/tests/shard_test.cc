// Which part of a case set a job judges, and the error that it gets instead of a guess.
#include "conformance/cases/shard.h"

#include <gtest/gtest.h>

#include <map>

#include "conformance/base/text.h"
#include "conformance/cases/case.h"
#include "conformance/tests/expect.h"

namespace lockstep::judge {
namespace {

using Variables = std::map<std::string, std::string>;

Shard read(const std::string& text, const Variables& env = {}) {
  return read_shard(text, [&](const char* name) -> const char* {
    const auto at = env.find(name);
    return at == env.end() ? nullptr : at->second.c_str();
  });
}

std::string text(const Shard& p) { return std::to_string(p.number) + "/" + std::to_string(p.of); }

std::string refusal_of(const std::string& text, const Variables& env = {}) {
  return words_of<UsageError>([&] { read(text, env); });
}

TEST(Shard, PartsHoldEachPlaceOnce) {
  for (i64 of : {1, 2, 3, 7})
    for (i64 place = 0; place < 20; ++place) {
      int holders = 0;
      for (i64 k = 1; k <= of; ++k) holders += Shard{k, of}.holds(place);
      EXPECT_EQ(holders, 1) << place << " of " << of;
    }
  EXPECT_TRUE((Shard{2, 3}.holds(i64{1} << 32)));
}

TEST(Shard, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(text(read("1/1000000")), "1/1000000");
  const std::pair<const char*, const char*> rows[] = {
      {"1/1000001", "--shard is '1000001', not a number of 0..1000000"},
      {"-1/4", "--shard is '-1', not a number of 0..1000000"},
      {"0/4", "--shard 0/4: there is no part 0 of 4"},
      {"3", "--shard is '3', not I/N, as 1/4, and not auto"}};
  for (const auto& [wrong, says] : rows) EXPECT_EQ(refusal_of(wrong), says);
}

TEST(Shard, IsWrittenOut) {
  EXPECT_EQ(text(read("1/1")), "1/1");
  EXPECT_EQ(text(read("3/4")), "3/4");
  for (const char* wrong : {"", "3", "0/4", "5/4", "1/0", "-1/4", "1/4x", "1/", "/4", "a/b",
           "1/99999999999999999999", "Auto"})
    expect_contains(refusal_of(wrong), "--shard");
}

// The variables of a task in an array: its number, then optionally the number of tasks, the first,
// the last and the step.
Variables slurm(const std::string& id, const std::vector<std::string>& values) {
  static const char* const kNames[] = {"COUNT", "MIN", "MAX", "STEP"};
  Variables all = {{"SLURM_ARRAY_TASK_ID", id}};
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!values[k].empty()) all[std::string("SLURM_ARRAY_TASK_") + kNames[k]] = values[k];
  return all;
}

TEST(Shard, IsToldByTheEnvironmentOfAJob) {
  const std::pair<Variables, const char*> rows[] = {{slurm("0", {"4"}), "1/4"},
      {slurm("4", {"4", "1", "4"}), "4/4"}, {slurm("5", {"4", "1", "7", "2"}), "3/4"},
      {slurm("4", {"3", "1", "7", "3"}), "2/3"},
      // Without its last number an array may end beyond 32 bits.
      {slurm("0", {"1000000", "", "", "1000000"}), "1/1000000"},
      {{{"JOB_COMPLETION_INDEX", "2"}, {"LOCKSTEP_SHARDS", "3"}}, "3/3"},
      {{{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "2"}}, "1/2"}};
  for (const auto& [env, part] : rows) EXPECT_EQ(text(read("auto", env)), part);
}

TEST(Shard, IsRefusedWhereTheEnvironmentIsOfTwoMinds) {
  const std::pair<Variables, const char*> rows[] = {
      {{}, "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and GTEST_SHARD_INDEX are set"},
      {{{"JOB_COMPLETION_INDEX", "0"}, {"GTEST_SHARD_INDEX", "0"}}, "several of"},
      {{{"JOB_COMPLETION_INDEX", "0"}}, "JOB_COMPLETION_INDEX is set and LOCKSTEP_SHARDS is not"},
      {{{"GTEST_SHARD_INDEX", "2"}, {"GTEST_TOTAL_SHARDS", "2"}}, "there is no part 3 of 2"},
      {{{"GTEST_SHARD_INDEX", "x"}, {"GTEST_TOTAL_SHARDS", "2"}}, "'x', not a number"},
      {slurm("5", {"3", "1", "7"}), "has no place; use an even array"},
      {slurm("4", {"4", "1", "7", "2"}),
          "task 4 of 4 in an array of 1 to 7 by steps of 2 has no place"},
      {slurm("1", {"2", "3"}), "task 1 of 2 in an array of 3 to 4 by steps of 1 has no place"},
      {slurm("3", {"1", "3", "", "0"}), "3 to 3 by steps of 0 has no place"}};
  for (const auto& [env, says] : rows) expect_contains(refusal_of("auto", env), says);
}

TEST(Glob, MatchesTheWholeText) {
  const std::tuple<const char*, const char*, bool> rows[] = {{"", "", true}, {"*", "", true},
      {"*", "relu", true}, {"relu", "relu", true}, {"r?lu", "relu", true},
      {"*pool*", "max_pool2d", true}, {"**u", "relu", true}, {"*a*a*", "banana", true},
      {"max*2d", "max_pool2d", true}, {"", "relu", false}, {"?", "", false}, {"rel", "relu", false},
      {"elu", "relu", false}, {"relu?", "relu", false}, {"*a*a*a*a*", "banana", false},
      {"[r]elu", "relu", false}, {"RELU", "relu", false}, {"max*3d", "max_pool2d", false}};
  for (const auto& [pattern, text, matches] : rows)
    EXPECT_EQ(glob(pattern, text), matches) << pattern << " " << text;
}

}  // namespace
}  // namespace lockstep::judge
