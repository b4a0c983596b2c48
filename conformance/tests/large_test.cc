// Calls larger than those that domains draw.
#include "conformance/cases/large.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "conformance/cases/layout.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {
namespace {

class Large : public testing::TestWithParam<const OpInfo*> {};

TEST_P(Large, CallsOutgrowCachesWhateverTheSeed) {
  for (u64 seed : {1, 123456789}) {
    const std::vector<Case> all = large_cases(*GetParam(), seed, 1);
    i64 largest = 0, output = 0;
    for (const Case& c : all) {
      const std::string id = case_id(c);
      ASSERT_FALSE(refusal(c).refused()) << id;
      EXPECT_EQ(case_id(parse_case(id)), id);
      EXPECT_LT(elements_of(c), i64{7} << 20) << id;
      largest = max(largest, largest_tensor(c));
      const auto out = reference::outputs(*c.op, c.attributes(), inputs_of(c));
      for (const Tensor& t : out) output = max(output, std::ssize(t.data));
      EXPECT_TRUE(std::any_of(out.begin(), out.end(), [](const Tensor& t) {
        return std::any_of(t.data.begin(), t.data.end(), [](i32 v) { return v != 0; });
      })) << id;
    }
    EXPECT_GT(largest, kLargeTensor) << seed;
    EXPECT_GT(output, kLargeOutput) << seed;
  }
  const std::vector<Case> one = large_cases(*GetParam(), 1, 1),
                          two = large_cases(*GetParam(), 1, 2);
  ASSERT_GT(two.size(), one.size());
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_EQ(case_id(two[k]), case_id(one[k]));
}

// One element more than blocks hold, along each axis that the operator's sums and rules let grow.
TEST_P(Large, BlocksLeaveOneElementOver) {
  std::set<int> axes;
  for (const Case& c : left_over_cases(*GetParam(), 1)) {
    ASSERT_FALSE(refusal(c).refused()) << case_id(c);
    EXPECT_FALSE(is_large(c)) << case_id(c);
    const Placement at = place_input(c.in[0], c.layout, c.seed, 0);
    for (int d = 0; d < c.in[0].rank(); ++d)
      if (c.in[0].dim(d) == kLeftOver && at.stride[d] == 1) axes.insert(d);
  }
  const bool is_quadratic = GetParam()->name == "non_max_suppression";
  EXPECT_GE(axes.size(), is_quadratic ? 0U : 1U);
}

// Hundreds of rows in the output of an operator that compares or chooses rows.
TEST_P(Large, CrowdsComeThrough) {
  const std::vector<Case> all = crowded_cases(*GetParam(), 1);
  const std::set<string_view> of_rows = {"get_valid_counts", "non_max_suppression"};
  EXPECT_EQ(all.size(), of_rows.contains(GetParam()->name) ? 4U : 0U);
  for (const Case& c : all) {
    ASSERT_FALSE(refusal(c).refused()) << case_id(c);
    EXPECT_FALSE(is_large(c)) << case_id(c);
    const Tensor y = reference::outputs(*c.op, c.attributes(), inputs_of(c)).back();
    EXPECT_GE(std::count_if(y.data.begin(), y.data.end(), [](i32 v) { return v != -1; }), kCrowd);
  }
}

// Operators that add products have a broad call whose outputs lie two elements apart along each
// axis.
TEST_P(Large, BroadCallsHaveSpreadOutputs) {
  for (u64 seed : {1, 2, 20261128}) {
    std::set<int> axes;
    for (const Case& c : spread_cases(*GetParam(), seed)) {
      ASSERT_FALSE(refusal(c).refused()) << case_id(c);
      EXPECT_LE(elements_of(c), kMaxRun) << case_id(c);
      EXPECT_GE(volume(c.in[1].shape) / c.in[1].dim(0), kBroad) << case_id(c);
      const Type y = c.op->infer(c.attributes(), c.types())[0];
      EXPECT_GE(y.dim(1), kBroad) << case_id(c);
      EXPECT_GE(y.dim(y.rank() - 1), kLongRow) << case_id(c);
      const Placement at = place_output(y, c.layout, c.seed, 0);
      for (int d = 0; d < y.rank(); ++d)
        if (at.stride[d] == 2) axes.insert(d);
    }
    const std::map<string_view, std::set<int>> expected = {
        {"conv2d", {0, 1, 2, 3}}, {"dense", {0, 1}}};
    const auto found = expected.find(GetParam()->name);
    EXPECT_EQ(axes, found == expected.end() ? std::set<int>() : found->second) << seed;
  }
}

// Operators that add products have a call with 2^16 channels, and those with padding one whose rows
// need more than blocks hold.
TEST_P(Large, ProductsOutgrowCountersAndBlocks) {
  const bool is_conv2d = GetParam()->name == "conv2d";
  for (u64 seed : {1, 2, 20261128}) {
    const std::vector<Case> full = full_count_cases(*GetParam(), seed),
                            deep = deep_row_cases(*GetParam(), seed);
    EXPECT_EQ(full.size(), is_conv2d || GetParam()->name == "dense" ? 1U : 0U) << seed;
    EXPECT_EQ(deep.size(), is_conv2d ? 1U : 0U) << seed;
    for (const Case& c : full) {
      EXPECT_EQ(refusal(c).label(), "") << case_id(c);
      EXPECT_EQ(c.in[1].dim(0), kFullCount) << case_id(c);
    }
    for (const Case& c : deep) {
      EXPECT_EQ(refusal(c).label(), "") << case_id(c);
      EXPECT_GT(volume(c.in[1].shape) / c.in[1].dim(0), kDeepRow) << case_id(c);
      EXPECT_GE(c.op->infer(c.attributes(), c.types())[0].dim(3), kLongRow) << case_id(c);
    }
  }
}

// Each operator has one large call whose plan runs as often as those of small calls.
TEST_P(Large, OnePlanCanRunManyTimes) {
  for (u64 seed : {1, 2, 20261128}) {
    const std::vector<Case> all = repeated_cases(*GetParam(), seed);
    ASSERT_EQ(all.size(), 1U) << seed;
    EXPECT_EQ(refusal(all[0]).label(), "") << case_id(all[0]);
    EXPECT_TRUE(is_large(all[0]) && is_repeated(all[0])) << case_id(all[0]);
  }
}

// Every number of elements that can be left over after whole vectors, along the last axis of input
// 0 and of output 0, and along the channels of output 0. An operator may fix any of these extents.
TEST_P(Large, TailsLeaveEveryNumberOfElementsOver) {
  std::set<i64> of_input, of_output, of_channels;
  for (const Case& c : tail_cases(*GetParam(), 1)) {
    ASSERT_FALSE(refusal(c).refused()) << case_id(c);
    EXPECT_LE(elements_of(c), kMaxRun);
    const Inferred y = c.op->infer(c.attributes(), c.types());
    const auto note = [](const Type& t, int axis, std::set<i64>& rests) {
      const i64 e = t.dim(axis);
      if (e >= kWidestVector) rests.insert(e % kWidestVector);
    };
    note(c.in[0], c.in[0].rank() - 1, of_input);
    note(y[0], y[0].rank() - 1, of_output);
    if (y[0].rank() > 2) note(y[0], 1, of_channels);
  }
  const bool has_rows_of_six = GetParam()->name == "non_max_suppression";
  const bool has_short_rows = has_rows_of_six || GetParam()->name == "get_valid_counts";
  EXPECT_EQ(of_input.size(), has_short_rows ? 0U : 64U);
  EXPECT_EQ(of_output.size(), has_rows_of_six ? 0U : 64U);
  const std::set<string_view> of_few_axes = {"dense", "flatten", "get_valid_counts"};
  EXPECT_EQ(of_channels.size(), of_few_axes.contains(GetParam()->name) ? 0U : 64U);
}

// The last numbers of an attribute that calls have in long rows.
std::set<i64> in_long_rows(const char* name, const char* attribute) {
  const OpInfo& op = *find_operator(name);
  const auto at = std::find_if(
      op.attrs.begin(), op.attrs.end(), [&](const AttrInfo& a) { return a.name == attribute; });
  std::set<i64> seen;
  for (const Case& c : long_row_cases(op, 1)) {
    EXPECT_FALSE(refusal(c).refused()) << case_id(c);
    EXPECT_LE(elements_of(c), kMaxRun);
    const Type y = c.op->infer(c.attributes(), c.types())[0];
    const Tuple& v = c.attrs[static_cast<std::size_t>(at - op.attrs.begin())].ints;
    if (y.dim(y.rank() - 1) >= kLongRow && v.size > 0) seen.insert(v[v.size - 1]);
  }
  return seen;
}

TEST(LongRows, HaveEverySmallNumber) {
  const char* const rows[][2] = {{"strided_slice", "stride"}, {"conv2d", "strides"},
      {"conv2d", "kernel_size"}, {"conv2d", "padding"}, {"conv2d", "dilation"},
      {"max_pool2d", "pool_size"}, {"max_pool2d", "strides"}, {"upsampling", "scale"},
      {"repeat", "repeats"}, {"tile", "reps"}};
  for (const auto& [op, attribute] : rows) {
    const std::set<i64> seen = in_long_rows(op, attribute);
    for (i64 v : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17})
      EXPECT_TRUE(seen.contains(v)) << op << " " << attribute << " " << v;
  }
  EXPECT_TRUE(long_row_cases(*find_operator("abs"), 1).empty());
}

INSTANTIATE_TEST_SUITE_P(Operators, Large,
    testing::ValuesIn(operators().begin(), operators().end()),
    [](const auto& p) { return std::string(p.param->name); });

// The terms of one sum, counted without gas.
i64 terms(const Case& c) {
  const Shape& x = c.in[0].shape;
  const std::map<string_view, std::function<i64()>> counts = {
      {"sum", [&] { return volume(x) / volume(c.op->infer(c.attributes(), c.types())[0].shape); }},
      {"max", [&] { return volume(x) / volume(c.op->infer(c.attributes(), c.types())[0].shape); }},
      {"dense", [&] { return x[1]; }},
      {"conv2d", [&] { return volume(c.in[1].shape) / c.in[1].dim(0); }},
      {"max_pool2d", [&] { return c.attrs[0].ints[0] * c.attrs[0].ints[1]; }}};
  const auto at = counts.find(c.op->name);
  return at == counts.end() ? 0 : at->second();
}

TEST(LargeCalls, HaveSumsOutgrowBlocksAndSixteenBits) {
  for (const char* op : {"sum", "max", "dense", "conv2d", "max_pool2d"})
    for (u64 seed : {1, 2, 7}) {
      i64 least = INT64_MAX, most = 0;
      for (const Case& c : large_cases(*find_operator(op), seed, 1)) {
        const i64 n = terms(c);
        if (n > kDeepSum) least = min(least, n);
        most = max(most, n);
      }
      EXPECT_LE(least, 8 * kDeepSum) << op << " " << seed;
      EXPECT_GT(most, kDeepestSum) << op << " " << seed;
    }
}

TEST(LargeCalls, BeginWhereTheyComeLast) {
  EXPECT_FALSE(is_large(parse_case("relu/in=65536@8")));
  EXPECT_TRUE(is_large(parse_case("relu/in=65537@8")));
}

TEST(LargeCalls, ComeLastInTheirSetAndNotInTheSmallest) {
  const auto first_large = [](int tier) {
    const std::vector<Item> all = select_cases({.tier = tier, .operators = {"relu", "dense"}});
    std::size_t first = all.size();
    i64 before = INT64_MAX;
    std::set<string_view> ops;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool large = all[k].what == Item::legal && is_large(all[k].call);
      if (large) first = std::min(first, k), ops.insert(all[k].call.op->name);
      EXPECT_EQ(large, k >= first) << all[k].id;
      if (!large) continue;
      EXPECT_LE(elements_of(all[k].call), before) << "the largest come first";
      before = elements_of(all[k].call);
    }
    EXPECT_EQ(ops.size(), tier == 0 ? 0U : 2U);
    return all.size() - first;
  };
  EXPECT_EQ(first_large(0), 0U);
  EXPECT_GE(first_large(1), 4U);
}

}  // namespace
}  // namespace lockstep::judge
