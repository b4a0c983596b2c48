/// @file
/// Calls that count through values: nothing is left out, and nothing is judged twice.
#include "conformance/cases/counting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/fill.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/trial/trial.h"

namespace lockstep::judge {
namespace {

using Values = std::vector<std::vector<i32>>;

Values values_of(const std::string& id) {
  Values all;
  for (Tensor& t : inputs_of(parse_case(id))) all.push_back(std::move(t.data));
  return all;
}

TEST(Counting, RangeBeginsAtItsSeedAndComesRound) {
  EXPECT_EQ(values_of("relu/in=7@3/fill=range:0"), (Values{{-3, -2, -1, 0, 1, 2, 3}}));
  EXPECT_EQ(values_of("relu/in=4@3/fill=range:5"), (Values{{2, 3, -3, -2}}));
  EXPECT_EQ(values_of("relu/in=2@1/fill=range:9"), (Values{{0, 0}}));
  EXPECT_EQ(values_of("relu/in=2@32/fill=range:4294967294"), (Values{{INT32_MAX, -INT32_MAX}}));
}

// Some inputs change seldom; they change at counts around 2^62, so the test begins there.
TEST(Counting, SeedsOf64BitsTurnEveryDigit) {
  constexpr i32 kMost = INT32_MAX;
  const auto from = [](const char* seed) {
    return values_of("concatenate/axis=0/in=2@32+2@32+2@32+2@32/fill=range:" + std::string(seed));
  };
  EXPECT_EQ(from("4611686018427387904"),
      (Values{{-1073741823, -1073741822}, {-1073741823, -1073741823}, {1 - kMost, 1 - kMost},
          {1 - kMost, 1 - kMost}}));
  EXPECT_EQ(from("4611686018427387903"),
      (Values{{-1073741824, -1073741823}, {-1073741823, -1073741823}, {-kMost, 1 - kMost},
          {-kMost, 1 - kMost}}));
}

TEST(Counting, InputsHoldEveryCombination) {
  for (const char* fill : {"range", "edges"}) {
    const Values v = values_of("elemwise_add/in=105@4+105@3/fill=" + std::string(fill) + ":11");
    std::set<std::pair<i32, i32>> pairs;
    for (std::size_t i = 0; i < 105; ++i) pairs.emplace(v[0][i], v[1][i]);
    // 6 and -6 are not edges.
    EXPECT_EQ(pairs.size(), fill == std::string("range") ? 15u * 7u : 13u * 7u);
  }
  // So many combinations that their number exceeds 64 bits.
  const Values v = values_of("concatenate/axis=0/in=1@32+1@32+1@32+1@32/fill=range:4294967295");
  EXPECT_EQ(v, (Values{{-INT32_MAX}, {1 - INT32_MAX}, {-INT32_MAX}, {-INT32_MAX}}));
}

TEST(Counting, EdgesAreWherePowersClampsAndTiesAre) {
  const auto edges = edge_values(32, 1);
  const auto expect_near = [&](i64 v) {
    for (i64 d = -2; d <= 2; ++d)
      for (i64 e : {v + d, -(v + d)})
        EXPECT_TRUE(magnitude(e) > kIntMax || std::binary_search(edges.begin(), edges.end(), e))
            << v << " " << d;
  };
  for (int p = 1; p <= 32; ++p) {
    expect_near(max_of(p));
    expect_near(i64{1} << (p - 1));
    for (int s = 1; p + s <= 33; ++s) {
      expect_near(max_of(p) << s);                             // the inverse of a product's clamp
      expect_near(((i64{1} << p) - 1) << (s - 1));             // a quotient's clamp, if it rounds
      expect_near((i64{1} << (p - 1)) + (i64{1} << (s - 1)));  // a tie beside a power of two
    }
  }
  EXPECT_EQ(edge_values(1, 1).size(), 1u);
  EXPECT_EQ(edge_values(8, 1).front(), -127);
  EXPECT_EQ(edge_values(8, 2).back(), 127);
}

TEST(Counting, EverySettingIsLegalAndThereOnce) {
  for (const OpInfo* op : operators()) {
    const std::vector<Case> all = edge_cases(*op);
    EXPECT_EQ(is_enumerable(*op), !all.empty()) << op->name;
    std::set<std::string> ids;
    for (const Case& c : all) {
      EXPECT_FALSE(refusal(c).refused()) << case_id(c);
      EXPECT_TRUE(ids.insert(case_id(c)).second) << case_id(c);
    }
  }
  EXPECT_EQ(edge_cases(*find_operator("relu")).size(), 1u);
  EXPECT_EQ(edge_cases(*find_operator("cvm_clip")).size(), 32u);
  EXPECT_EQ(edge_cases(*find_operator("cvm_right_shift")).size(), 32u * 32u);
  // The precision of the operand and the shift add up to 32 at most, so no case shifts by 32.
  const std::vector<Case> left = edge_cases(*find_operator("cvm_left_shift"));
  EXPECT_EQ(left.size(), 32u * 31u);
  for (const Case& c : left) EXPECT_EQ(c.in[0].precision + c.attrs[1].ints[0], 32) << case_id(c);
}

TEST(Counting, IsOfElementwiseOperatorsAlone) {
  const std::set<std::string> expected = {"broadcast_add", "broadcast_sub", "broadcast_mul",
      "broadcast_div", "broadcast_max", "abs", "broadcast_greater", "cvm_precision", "elemwise_add",
      "elemwise_sub", "clip", "cvm_clip", "negative", "relu", "cvm_left_shift", "cvm_right_shift"};
  std::set<std::string> found;
  for (const OpInfo* op : operators())
    if (is_enumerable(*op)) found.emplace(op->name);
  EXPECT_EQ(found, expected);
}

// The edges of a wide range lie beside the powers of two where types and products end.
TEST(Counting, BoundsOfClipStandBesidePowersOfTwo) {
  std::set<i64> expected, found;
  for (i64 v : {0, 1, 2, 15, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 8388607, 8388608,
           16777215, 16777216, 33554431, 33554432, 1073741823, 1073741824})
    expected.insert({v, -v});
  for (const Case& c : edge_cases(*find_operator("clip")))
    for (const Attr& a : c.attrs) found.insert(a.ints[0]);
  EXPECT_EQ(found, expected);
}

TEST(Counting, RangesAreOfSettingsThatTheSeedDraws) {
  std::vector<std::string> begins;
  const u64 seed = (u64{1} << 40) + 5;
  for (const Case& c : range_cases(*find_operator("cvm_clip"), seed, 3))
    if (c.seed == 0) begins.push_back(case_id(c));
  EXPECT_EQ(begins,
      (std::vector<std::string>{"cvm_clip/precision=10/in=524288@32/fill=range:0",
          "cvm_clip/precision=5/is_sign=false/in=524288@32/fill=range:0",
          "cvm_clip/precision=22/in=524288@32/fill=range:0"}));
}

TEST(Counting, RangesCoverEveryValueOnce) {
  for (const OpInfo* op : operators()) {
    const bool unary = is_enumerable(*op) && op->inputs.size() == 1;
    const std::vector<Case> all = range_cases(*op, 5, 3);
    EXPECT_EQ(unary, !all.empty()) << op->name;
    u64 next = 0;
    int settings = 0;
    for (const Case& c : all) {
      EXPECT_FALSE(refusal(c).refused()) << case_id(c);
      if (c.seed == 0) ++settings, next = 0;
      EXPECT_EQ(c.seed, next) << case_id(c);
      next += static_cast<u64>(volume(c.in[0].shape));
      const u64 values = 2 * static_cast<u64>(max_of(c.in[0].precision)) + 1;
      const bool last = &c == &all.back() || (&c + 1)->seed == 0;
      EXPECT_EQ(next == values, last) << case_id(c);
    }
    EXPECT_EQ(settings, !unary ? 0 : op->attrs.size() == 0 ? 1 : 3) << op->name;
  }
}

TEST(Counting, AllValuesArePutOnce) {
  ReferenceSubject reference;
  Item item;
  for (const char* fill : {"edges:0", "range:0"}) {
    item.call = parse_case("relu/in=15@4/fill=" + std::string(fill));
    const Trial t = perform(reference, item, plan_for(reference, {}));
    EXPECT_EQ(
        t.base.out, (std::vector<std::vector<i32>>{{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7}}));
    EXPECT_EQ(t.calls == 1, item.call.fill == Fill::range) << fill;
  }
}

}  // namespace
}  // namespace lockstep::judge
