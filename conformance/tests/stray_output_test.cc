// How a run goes on after commands that write what is no answer.
#include <gtest/gtest.h>

#include "conformance/run/judge.h"
#include "conformance/tests/expect.h"

namespace lockstep::judge {
namespace {

TEST(StrayOutput, IsQuarantinedWithTheLine) {
  const Conduct conduct{.limits = {.timeout_s = 20, .start_s = 20}, .jobs = 1, .shrink = false};
  const Report r = judge("exec:echo loading 7; exec eval_reference",
      {.tier = 0, .operators = {"relu", "sum"}}, conduct);
  EXPECT_EQ(r.counts.failed, 3);
  EXPECT_EQ(r.counts.quarantined, r.counts.selected - 3);
  const std::string printed = "printed: 'loading 7' on standard output, where only answers belong";
  EXPECT_EQ(r.quarantine, std::vector<std::string>{printed + " (3 times)"});
  for (const Failure& f : r.failures) EXPECT_EQ(f.text, printed) << f.property;
  EXPECT_EQ(r.verdict, "FAIL");
}

TEST(StrayOutput, ThatBreaksTheChannelIsQuarantined) {
  const Conduct conduct{.limits = {.timeout_s = 20, .start_s = 20}, .jobs = 1, .shrink = false};
  // One repeats its answers, and the other never ends one.
  const std::pair<std::string, std::string> rows[] = {{"eval_reference | sed -u 'p'", "answer"},
      {"read x; tr '\\0' '{' < /dev/zero", "an answer of more than "}};
  for (const auto& [command, says] : rows) {
    const Report r = judge("exec:" + command, {.tier = 0, .operators = {"relu", "sum"}}, conduct);
    EXPECT_EQ(r.counts.failed, 3) << command;
    EXPECT_EQ(r.counts.quarantined, r.counts.selected - 3) << command;
    ASSERT_EQ(r.quarantine.size(), 1U) << command;
    expect_contains(r.quarantine[0], "the backend never answered: broken_channel: ");
    expect_contains(r.quarantine[0], says);
    EXPECT_EQ(r.verdict, "FAIL") << command;
  }
}

}  // namespace
}  // namespace lockstep::judge
