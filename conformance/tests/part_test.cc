// Which part of a case set a job judges, and what it is told instead of guessing.
#include "conformance/cases/part.h"

#include <gtest/gtest.h>

#include <map>

#include "conformance/base/glob.h"
#include "conformance/cases/case.h"
#include "conformance/tests/expect.h"

namespace lockstep::judge {
namespace {

using Variables = std::map<std::string, std::string>;

Part read(const std::string& text, const Variables& env = {}) {
  return read_part(text, [&](const char* name) -> const char* {
    const auto at = env.find(name);
    return at == env.end() ? nullptr : at->second.c_str();
  });
}

std::string text(const Part& p) { return std::to_string(p.number) + "/" + std::to_string(p.of); }

std::string refusal_of(const std::string& text, const Variables& env = {}) {
  return words_of<UsageError>([&] { read(text, env); });
}

TEST(Part, PartsHoldEachPlaceOnce) {
  for (i64 of : {1, 2, 3, 7})
    for (i64 place = 0; place < 20; ++place) {
      int holders = 0;
      for (i64 k = 1; k <= of; ++k) holders += Part{k, of}.holds(place);
      EXPECT_EQ(holders, 1) << place << " of " << of;
    }
  EXPECT_TRUE((Part{2, 3}.holds(i64{1} << 32)));
}

TEST(Part, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(text(read("1/1000000")), "1/1000000");
  const std::pair<const char*, const char*> rows[] = {
      {"1/1000001", "--shard is '1000001', not a number of 0..1000000"},
      {"-1/4", "--shard is '-1', not a number of 0..1000000"},
      {"0/4", "--shard 0/4: there is no part 0 of 4"},
      {"3", "--shard is '3', not I/N, as 1/4, and not auto"}};
  for (const auto& [wrong, says] : rows) EXPECT_EQ(refusal_of(wrong), says);
}

TEST(Part, IsWrittenOut) {
  EXPECT_EQ(text(read("1/1")), "1/1");
  EXPECT_EQ(text(read("3/4")), "3/4");
  for (const char* wrong : {"", "3", "0/4", "5/4", "1/0", "-1/4", "1/4x", "1/", "/4", "a/b",
                            "1/99999999999999999999", "Auto"})
    EXPECT_NE(refusal_of(wrong).find("--shard"), std::string::npos) << wrong;
}

TEST(Part, IsToldByTheEnvironmentOfAJob) {
  const std::pair<Variables, const char*> rows[] = {
      {{{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}, "1/4"},
      {{{"SLURM_ARRAY_TASK_ID", "4"},
        {"SLURM_ARRAY_TASK_COUNT", "4"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "4"}},
       "4/4"},
      {{{"SLURM_ARRAY_TASK_ID", "5"},
        {"SLURM_ARRAY_TASK_COUNT", "4"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_STEP", "2"}},
       "3/4"},
      {{{"SLURM_ARRAY_TASK_ID", "4"},
        {"SLURM_ARRAY_TASK_COUNT", "3"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_STEP", "3"}},
       "2/3"},
      // Without its last number an array may end beyond 32 bits.
      {{{"SLURM_ARRAY_TASK_ID", "0"},
        {"SLURM_ARRAY_TASK_COUNT", "1000000"},
        {"SLURM_ARRAY_TASK_STEP", "1000000"}},
       "1/1000000"},
      {{{"JOB_COMPLETION_INDEX", "2"}, {"LOCKSTEP_SHARDS", "3"}}, "3/3"},
      {{{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "2"}}, "1/2"}};
  for (const auto& [env, part] : rows) EXPECT_EQ(text(read("auto", env)), part);
}

TEST(Part, IsRefusedWhereTheEnvironmentIsOfTwoMinds) {
  const std::pair<Variables, const char*> rows[] = {
      {{}, "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and GTEST_SHARD_INDEX are set"},
      {{{"JOB_COMPLETION_INDEX", "0"}, {"GTEST_SHARD_INDEX", "0"}}, "several of"},
      {{{"JOB_COMPLETION_INDEX", "0"}}, "JOB_COMPLETION_INDEX is set and LOCKSTEP_SHARDS is not"},
      {{{"GTEST_SHARD_INDEX", "2"}, {"GTEST_TOTAL_SHARDS", "2"}}, "there is no part 3 of 2"},
      {{{"GTEST_SHARD_INDEX", "x"}, {"GTEST_TOTAL_SHARDS", "2"}}, "'x', not a number"},
      {{{"SLURM_ARRAY_TASK_ID", "5"},
        {"SLURM_ARRAY_TASK_COUNT", "3"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"}},
       "has no place; use an even array"},
      {{{"SLURM_ARRAY_TASK_ID", "4"},
        {"SLURM_ARRAY_TASK_COUNT", "4"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_STEP", "2"}},
       "task 4 of 4 in an array of 1 to 7 by steps of 2 has no place"},
      {{{"SLURM_ARRAY_TASK_ID", "1"},
        {"SLURM_ARRAY_TASK_COUNT", "2"},
        {"SLURM_ARRAY_TASK_MIN", "3"}},
       "task 1 of 2 in an array of 3 to 4 by steps of 1 has no place"},
      {{{"SLURM_ARRAY_TASK_ID", "3"},
        {"SLURM_ARRAY_TASK_COUNT", "1"},
        {"SLURM_ARRAY_TASK_MIN", "3"},
        {"SLURM_ARRAY_TASK_STEP", "0"}},
       "3 to 3 by steps of 0 has no place"}};
  for (const auto& [env, says] : rows)
    EXPECT_NE(refusal_of("auto", env).find(says), std::string::npos) << refusal_of("auto", env);
}

TEST(Glob, MatchesTheWholeText) {
  for (const auto& [pattern, text] : {std::pair{"", ""},
                                      {"*", ""},
                                      {"*", "relu"},
                                      {"relu", "relu"},
                                      {"r?lu", "relu"},
                                      {"*pool*", "max_pool2d"},
                                      {"max*2d", "max_pool2d"},
                                      {"**u", "relu"},
                                      {"*a*a*", "banana"}})
    EXPECT_TRUE(glob(pattern, text)) << pattern << " " << text;
  for (const auto& [pattern, text] : {std::pair{"", "relu"},
                                      {"?", ""},
                                      {"rel", "relu"},
                                      {"elu", "relu"},
                                      {"relu?", "relu"},
                                      {"RELU", "relu"},
                                      {"max*3d", "max_pool2d"},
                                      {"*a*a*a*a*", "banana"},
                                      {"[r]elu", "relu"}})
    EXPECT_FALSE(glob(pattern, text)) << pattern << " " << text;
}

}  // namespace
}  // namespace lockstep::judge
