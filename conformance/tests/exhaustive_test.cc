// Every call of a small scope, operator by operator, is legal and exact, and the CPU backend gives
// the same results.
#include "conformance/cases/exhaustive.h"

#include <gtest/gtest.h>

#include <set>

#include "conformance/subjects/subject.h"
#include "conformance/trial/properties.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr i64 kMostCalls = 12'000;  // of one operator
constexpr i64 kFewestCalls = 100;

// The paths through three choices: of one value, of two, and, if the second was the first value, of
// many.
std::vector<std::vector<i64>> paths(int deviations) {
  std::vector<std::vector<i64>> all;
  Exhaustive draw(deviations);
  do {
    std::vector<i64> path{draw(7, 7)};
    path.push_back(draw(0, 1));
    if (path.back() == 0) path.push_back(draw(-5, 5));
    all.push_back(path);
  } while (draw.next());
  return all;
}

TEST(Exhaustive, TakesEveryPathOnce) {
  using Paths = std::vector<std::vector<i64>>;
  EXPECT_EQ(paths(3), (Paths{{7, 0, -5}, {7, 0, 5}, {7, 0, -4}, {7, 1}}));
  EXPECT_EQ(paths(0), (Paths{{7, 0, -5}}));
}

TEST(Exhaustive, CountsDeviationsAndNotChoices) {
  // Of n binary choices, the paths with at most k deviations.
  const auto count = [](int n, int k) {
    Exhaustive draw(k);
    std::set<std::vector<i64>> seen;
    do {
      std::vector<i64> path;
      for (int i = 0; i < n; ++i) path.push_back(draw(0, 1));
      EXPECT_TRUE(seen.insert(path).second);
    } while (draw.next());
    return seen.size();
  };
  EXPECT_EQ(count(5, 0), 1u);
  EXPECT_EQ(count(5, 1), 6u);
  EXPECT_EQ(count(5, 2), 16u);
  EXPECT_EQ(count(5, 5), 32u);
  EXPECT_EQ(count(5, 9), 32u);
}

TEST(Exhaustive, TakesTheEndsOfAWideRange) {
  constexpr i64 kFar = i64{1} << 40;
  Exhaustive draw(1);
  std::vector<i64> taken;
  do taken.push_back(draw(-kFar, kFar));
  while (draw.next());
  EXPECT_EQ(taken, (std::vector<i64>{-kFar, kFar, 1 - kFar}));
}

TEST(Exhaustive, AScopeIsTheLargestThatHasNoMoreCallsThanAllowed) {
  OpInfo coins = *find_operator("relu");
  coins.domain = [](Draw& draw, Drawn&) {
    for (int k = 0; k < 5; ++k) draw.coin();
  };
  const auto scope_is = [](const OpInfo& op, i64 most, int deviations, i64 calls, bool whole) {
    const SmallCalls s = largest_scope(op, most);
    EXPECT_EQ(s.deviations, deviations) << most;
    EXPECT_EQ(s.calls, calls) << most;
    EXPECT_EQ(s.whole, whole) << most;
  };
  scope_is(coins, 0, 0, 1, false);
  scope_is(coins, 5, 0, 1, false);
  scope_is(coins, 6, 1, 6, false);
  scope_is(coins, 31, 4, 31, false);
  scope_is(coins, 32, 5, 32, true);
  scope_is(coins, (i64{1} << 32) + 31, 5, 32, true);
  EXPECT_EQ(count_calls(coins, 5, 100), 32);
  EXPECT_EQ(count_calls(coins, 5, 10), 11);
  EXPECT_EQ(count_calls(coins, 5, (i64{1} << 32) + 10), 32);
  OpInfo fixed = coins;
  fixed.domain = [](Draw&, Drawn&) {};
  scope_is(fixed, 9, 0, 1, true);
}

class SmallScope : public testing::TestWithParam<const OpInfo*> {
 protected:
  static Subject& cpu() {
    static const std::unique_ptr<Subject> subject = open_subject("cpu", {20, 60, 8, {}});
    return *subject;
  }
  // How the backend's answer to a legal call differs from the reference's; empty if it does not.
  static std::string wrong(const Case& c) {
    const std::vector<Tensor> in = inputs_of(c);
    const reference::Outcome y = reference::evaluate(*c.op, c.attributes(), in);
    if (y.status != reference::Status::ok) return y.label + ": " + y.message;
    const Inferred types = c.op->infer(c.attributes(), c.types());
    const Answer got = cpu().execute(c, in, types, {});
    if (!got.ok()) return std::string(name_of(got.kind)) + " " + got.label + ": " + got.message;
    const std::optional<Finding> f = difference(y.out, got);
    return f ? f->text : "";
  }
};

INSTANTIATE_TEST_SUITE_P(Operators, SmallScope, testing::ValuesIn(operators()),
    [](const auto& p) { return std::string(p.param->name); });

TEST_P(SmallScope, HasNoWrongCall) {
  const OpInfo& op = *GetParam();
  constexpr Fill kFills[] = {Fill::hinted, Fill::alternating, Fill::max, Fill::boundary};
  const SmallCalls scope = largest_scope(op, kMostCalls);
  Exhaustive draw(scope.deviations);
  i64 calls = 0;
  do {
    Case c = draw_case(op, draw);
    ASSERT_FALSE(refusal(c).refused()) << refusal(c).label() << ": " << case_id(c);
    c.seed = static_cast<u64>(calls);
    c.fill = kFills[static_cast<std::size_t>(calls) % std::size(kFills)];
    ASSERT_EQ(wrong(c), "") << case_id(c);
    ++calls;
  } while (draw.next());
  ASSERT_EQ(calls, scope.calls);
  EXPECT_GE(calls, scope.whole ? 1 : kFewestCalls);
}

}  // namespace
}  // namespace lockstep::judge
