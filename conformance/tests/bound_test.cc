// The inferred precision is a true bound: extreme inputs of every precision stay inside it.
#include <gtest/gtest.h>

#include "conformance/cases/case.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr int kCalls = 16;         // drawn calls whose precisions are replaced
constexpr i64 kMostElements = 64;  // of the inputs of such a call, if possible
constexpr int kFree = 3;           // inputs that vary on their own; later ones follow the last
constexpr int kPatterns = 3;       // of extreme values

class Bound : public testing::TestWithParam<const OpInfo*> {};

INSTANTIATE_TEST_SUITE_P(Operators, Bound, testing::ValuesIn(operators()),
    [](const auto& p) { return std::string(p.param->name); });

// Calls f(digits) for every list of n digits below `base`.
template <class F> void for_each_list(std::size_t n, std::size_t base, F f) {
  std::vector<std::size_t> digits(n, 0);
  for (std::size_t k = 0; k < n;) {
    f(digits);
    for (k = 0; k < n && ++digits[k] == base; ++k) digits[k] = 0;
  }
}

// Every precision for one or two inputs; for more, those where widths and rules change.
std::vector<int> precisions(std::size_t inputs) {
  if (inputs > 2) return {1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 30, 31, 32};
  std::vector<int> all;
  for (int p = 1; p <= kMaxPrecision; ++p) all.push_back(p);
  return all;
}

// All at the maximum, all at the minimum, or the two in turns.
Tensor extreme(const Type& t, std::size_t pattern) {
  const auto a = static_cast<i32>(max_of(t.precision));
  Tensor x{t, std::vector<i32>(static_cast<std::size_t>(volume(t.shape)), pattern == 1 ? -a : a)};
  for (std::size_t i = 1; pattern == 2 && i < x.data.size(); i += 2) x.data[i] = -a;
  return x;
}

// Evaluates every pattern at one point of the grid; the reference refuses a result outside its
// bound.
void drive(const Case& c, std::size_t free) {
  for_each_list(free, kPatterns, [&](const std::vector<std::size_t>& pattern) {
    std::vector<Tensor> in;
    for (std::size_t k = 0; k < c.in.size(); ++k)
      in.push_back(extreme(c.in[k], pattern[std::min(k, free - 1)]));
    const reference::Outcome y = reference::evaluate(*c.op, c.attributes(), in);
    ASSERT_EQ(y.status, reference::Status::ok) << y.message << "\n" << case_id(c);
  });
}

// A call of an operator, a small one if a few draws find it.
Case small_call(const OpInfo& op, u64 n) {
  Case c;
  for (u64 retry = 0; retry < 20; ++retry) {
    Seeded draw(word(5, n, retry));
    c = draw_case(op, draw);
    i64 elements = 0;
    for (const Type& t : c.in) elements += volume(t.shape);
    if (elements <= kMostElements) break;
  }
  return c;
}

TEST_P(Bound, HoldsOverThePrecisionGrid) {
  const OpInfo& op = *GetParam();
  for (u64 n = 0; n < kCalls; ++n) {
    Case c = small_call(op, n);
    const std::size_t free = std::min<std::size_t>(c.in.size(), kFree);
    const std::vector<int> grid = precisions(free);
    i64 legal = 0;
    for_each_list(free, grid.size(), [&](const std::vector<std::size_t>& point) {
      for (std::size_t k = 0; k < c.in.size(); ++k)
        c.in[k].precision = grid[point[std::min(k, free - 1)]];
      if (refusal(c).refused()) return;
      ++legal;
      if (!HasFatalFailure()) drive(c, free);
    });
    ASSERT_GT(legal, 0) << case_id(c);
  }
}

TEST(BoundOfABrokenOperator, IsExceeded) {
  OpInfo op = *find_operator("broadcast_add");
  op.infer = [](Attributes, Types in) { return Inferred(in[0]); };
  const Type t{{1}, 8};
  const reference::Outcome y = reference::evaluate(op, {}, {extreme(t, 0), extreme(t, 0)});
  EXPECT_EQ(y.status, reference::Status::runtime_error);
  EXPECT_EQ(y.label, "spec.broken");
}

}  // namespace
}  // namespace lockstep::judge
