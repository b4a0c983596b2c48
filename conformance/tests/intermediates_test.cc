// What implementations compute on the way to an element and exceeds 2^31: where it begins, and that
// every selection has such calls.
#include "conformance/cases/intermediates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/cases/classes.h"
#include "conformance/cases/item.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {
namespace {

using Names = std::set<std::string>;

Names names_of(Intermediates all) {
  Names names;
  for (int k = 0; all >> k != 0; ++k)
    if ((all >> k & 1) != 0) names.emplace(intermediate_name(k));
  return names;
}

// The intermediates of a call. @param in what follows `in=`
Names shown_by(const std::string& op, const std::string& in) {
  const Case c = parse_case(op + "/in=" + in);
  EXPECT_EQ(refusal(c).label(), "") << case_id(c);
  return names_of(intermediates_of(c, inputs_of(c)));
}

const Names kNothing = {}, kDifference = {"a difference beyond 2^31"},
            kHalf = {"a value and half a unit beyond 2^31"};

// Calls at a boundary, and as close to it as there are others.
TEST(Intermediates, OfValuesBeginWhereTheyLeave32Bits) {
  const std::tuple<const char*, const char*, Names> rows[] = {
      {"broadcast_max", "2@32+1@32/data=5,2147483647+-1", kDifference},
      {"broadcast_max", "2@32+1@32/data=2147483647,5+0", kNothing},
      {"broadcast_div", "1@32+2@32/data=-2+5,2147483647", kDifference},
      {"broadcast_div", "1@32+2@32/data=-1+5,2147483647", kNothing},
      {"broadcast_greater", "1@32+1@32/data=2147483647+-1", kDifference},
      {"broadcast_greater", "1@32+1@32/data=-2147483647+1", kNothing},
      {"clip/a_min=-1/a_max=9", "2@32/data=0,2147483647", kDifference},
      {"clip/a_min=-1/a_max=9", "2@32/data=0,2147483646", kNothing},
      {"clip/a_min=-9/a_max=2", "1@32/data=-2147483647", kDifference},
      {"clip/a_min=-9/a_max=2", "1@32/data=-2147483646", kNothing},
      {"cvm_clip/precision=2", "1@32/data=2147483647", kDifference},
      {"cvm_clip/precision=2", "1@32/data=2147483646", kNothing},
      {"cvm_precision", "2@32/data=1,-2147483647", {"a magnitude and one beyond 2^31"}},
      {"cvm_precision", "2@32/data=1,-2147483646", kNothing},
      {"cvm_right_shift/precision=32/shift_bit=1", "1@32/data=2147483647", kHalf},
      {"cvm_right_shift/precision=32/shift_bit=1", "1@32/data=2147483646", kNothing},
      {"cvm_right_shift/precision=32/shift_bit=32", "1@32/data=0", kHalf},
      {"cvm_right_shift/precision=32/shift_bit=32", "1@32/data=-1", kNothing},
      {"cvm_lut/in_dim=3", "1@32+3@8/data=-2147483647+1,2,3", kDifference},
      {"cvm_lut/in_dim=3", "1@32+3@8/data=-2147483646+1,2,3", kNothing},
      {"take", "1x3@8+1@32/data=1,2,3+-2147483647", kDifference},
      {"take", "1x3@8+1@32/data=1,2,3+-2147483646", kNothing},
      {"take/axis=-1", "1x3@8+1@32/data=1,2,3+-2147483647", kDifference},
      {"take/axis=-2", "1x3@8+1@32/data=1,2,3+-2147483647", kNothing},
      {"get_valid_counts/score_threshold=-1", "1x2x2@32/data=0,1,0,2147483647", kDifference},
      {"get_valid_counts/score_threshold=-1", "1x2x2@32/data=2147483647,1,0,5", kNothing},
      {"max/axis=1", "2x2@32/data=-1,2147483647,5,7", kDifference},
      {"max/axis=0", "2x2@32/data=-1,2147483647,5,7", kNothing},
      {"max_pool2d/pool_size=1,2", "1x1x1x3@32/data=0,-1,2147483647", kDifference},
      {"max_pool2d/pool_size=1,2", "1x1x1x3@32/data=-1,0,2147483647", kNothing},
      {"relu", "2@32/data=-2147483647,2147483647", kNothing}};
  for (const auto& [op, in, names] : rows) EXPECT_EQ(shown_by(op, in), names) << op << " " << in;
}

TEST(Intermediates, OfPositionsBeginWhereTheyLeave32Bits) {
  const Names from = {"a position and a step beyond 2^31"},
              after = {"a length and a step beyond 2^31"};
  const std::tuple<const char*, const char*, Names> rows[] = {
      {"strided_slice/begin=1/end=2/stride=2147483647", "3@8", from},
      {"strided_slice/begin=0/end=2/stride=2147483647", "3@8", after},
      {"strided_slice/begin=0/end=1/stride=2147483647", "3@8", kNothing},
      {"strided_slice/begin=0/end=2/stride=2147483646", "3@8", kNothing},
      {"strided_slice/begin=-1/end=0/stride=-2147483647", "3@8", after},
      {"strided_slice/begin=-1/end=1/stride=-2147483647", "3@8", kNothing},
      {"strided_slice/begin=0/end=2/stride=1,2147483647", "2x2@8", after}};
  for (const auto& [op, in, names] : rows) EXPECT_EQ(shown_by(op, in), names) << op << " " << in;
}

// One box and the corners of another, which lies beside or in it.
Names of_boxes(const std::string& attributes, const std::string& one, const std::string& other,
    const std::string& count = "2") {
  return shown_by("non_max_suppression" + attributes,
      "1x2x6@31+1@32/data=7,9," + one + ",7,8," + other + "+" + count);
}

TEST(Intermediates, OfBoxesBeginWhereTheyLeave32Bits) {
  const std::string least = "/iou_threshold=1";
  EXPECT_EQ(of_boxes("", "0,0,65536,32768", "-1,-1,0,0"), Names{"an area beyond 2^31"});
  EXPECT_EQ(of_boxes("", "0,0,65536,32767", "-1,-1,0,0"), kNothing);
  EXPECT_EQ(of_boxes(least, "0,0,32768,32768", "32767,32767,65535,65535"),
      Names{"two areas beyond 2^31"});
  EXPECT_EQ(of_boxes(least, "0,0,32768,32768", "32767,32767,65535,65534"), kNothing);
  EXPECT_EQ(of_boxes(least, "0,0,32768,32768", "32768,32768,65536,65536"), kNothing);
  EXPECT_EQ(of_boxes("", "0,0,65536,32768", "0,0,65536,32768"),
      (Names{"an area beyond 2^31", "an overlap beyond 2^31"}));
  EXPECT_EQ(
      of_boxes(least, "0,0,21474837,1", "0,0,21474837,1"), Names{"a hundred overlaps beyond 2^31"});
  EXPECT_EQ(of_boxes(least, "0,0,21474836,1", "0,0,21474836,1"), kNothing);
  EXPECT_EQ(of_boxes("", "0,0,42949673,1", "0,0,1,1"), Names{"a threshold of a union beyond 2^31"});
  EXPECT_EQ(of_boxes("", "0,0,42949672,1", "0,0,1,1"), kNothing);
  EXPECT_EQ(of_boxes("", "0,0,1,1", "0,0,1,1", "-2147483647"), kDifference);
  EXPECT_EQ(of_boxes("", "0,0,1,1", "0,0,1,1", "-2147483646"), kNothing);
}

// Boxes meet that are read, and of which one can suppress the other.
TEST(Intermediates, OfBoxesAreOfRivals) {
  const std::string wide = "0,0,42949673,1";
  const auto of = [&](const char* op, const std::string& ids, const char* count) {
    return shown_by(op,
        "1x2x6@31+1@8/data=" + ids.substr(0, ids.find('|')) + ",9," + wide + "," +
            ids.substr(ids.find('|') + 1) + ",9," + wide + "+" + count);
  };
  const char *free = "non_max_suppression", *forced = "non_max_suppression/force_suppress=true";
  EXPECT_NE(of(free, "3|3", "2"), kNothing);
  EXPECT_EQ(of(free, "3|4", "2"), kNothing);
  EXPECT_NE(of(forced, "3|4", "2"), kNothing);
  EXPECT_EQ(of(forced, "3|-1", "2"), kNothing);
  EXPECT_EQ(of(forced, "3|4", "1"), kNothing);
}

// The operators whose rules permit intermediates beyond 32 bits, and how many. In all others every
// partial sum, every product and every shifted value fits.
TEST(Intermediates, AreOfTheseOperators) {
  const std::map<string_view, std::size_t> expected = {{"broadcast_div", 1},
      {"broadcast_greater", 1}, {"broadcast_max", 1}, {"clip", 1}, {"cvm_clip", 1}, {"cvm_lut", 1},
      {"cvm_precision", 1}, {"cvm_right_shift", 1}, {"get_valid_counts", 1}, {"max", 1},
      {"max_pool2d", 1}, {"non_max_suppression", 6}, {"strided_slice", 2}, {"take", 1}};
  std::map<string_view, std::size_t> found;
  for (const OpInfo* op : operators())
    if (const std::size_t n = names_of(intermediates_of(*op)).size(); n > 0) found[op->name] = n;
  EXPECT_EQ(found, expected);
}

// Of a call of narrow types, no value leaves 32 bits.
TEST(Intermediates, AreAimedAtByTheWidestTypes) {
  for (const OpInfo* op : operators()) {
    Seeded draw(1);
    int seen = 0;
    for (int n = 0; n < 60 && intermediates_of(*op) != 0; n += 3) {
      const std::vector<CallClass> wanted = {{"intermediates", "any"}};
      const std::optional<Case> c = attempt(*op, wanted, kMaxRun, n, draw);
      for (std::size_t k = 0; c && k < c->in.size(); ++k) {
        Case wider = *c;
        ++wider.in[k].precision;
        EXPECT_TRUE(refusal(wider).refused()) << case_id(*c);
        ++seen;
      }
    }
    EXPECT_EQ(seen > 0, intermediates_of(*op) != 0) << op->name;
  }
}

class IntermediatesOfSets : public testing::TestWithParam<const OpInfo*> {};

// Whatever the seed, since any seed may be the one of somebody's run.
TEST_P(IntermediatesOfSets, AreReachedWithOutputsThatVary) {
  const OpInfo& op = *GetParam();
  for (u64 seed : {1, 2, 20261128}) {
    Intermediates seen = 0;
    for (const Item& item : select_cases({.seed = seed, .operators = {std::string(op.name)}})) {
      if (seen == intermediates_of(op)) break;
      if (item.what != Item::legal || elements_of(item.call) > kMaxRun) continue;
      const std::vector<Tensor> in = inputs_of(item.call);
      const Intermediates shown = intermediates_of(item.call, in);
      if ((shown & ~seen) != 0 && !is_constant(reference::outputs(op, item.call.attributes(), in)))
        seen |= shown;
    }
    EXPECT_EQ(names_of(seen), names_of(intermediates_of(op))) << seed;
  }
}

std::vector<const OpInfo*> with_intermediates() {
  std::vector<const OpInfo*> all;
  for (const OpInfo* op : operators())
    if (intermediates_of(*op) != 0) all.push_back(op);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Operators, IntermediatesOfSets, testing::ValuesIn(with_intermediates()),
    [](const auto& p) { return std::string(p.param->name); });

}  // namespace
}  // namespace lockstep::judge
