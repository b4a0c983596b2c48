// A planted fault is found again in the smallest call that shows it.
#include "conformance/run/shrink.h"

#include <gtest/gtest.h>

#include "conformance/subjects/reference_subject.h"

namespace lockstep::judge {
namespace {

// Wrong exactly where an element is 7, or odd and beyond a bound.
class Afraid : public ReferenceSubject {
 public:
  std::optional<i32> of_odd_beyond;

  Answer execute(const Case& c, const std::vector<Tensor>& in, const Inferred& out,
                 const Run& run) override {
    Answer a = ReferenceSubject::execute(c, in, out, run);
    for (i32& y : a.out[0]) y += of_odd_beyond ? y % 2 != 0 && y > *of_odd_beyond : y == 7;
    return a;
  }
};

TEST(Shrink, FindsTheSmallestCall) {
  Afraid subject;
  std::string text;
  const Case from = parse_case("relu/in=2x3x2@8/data=1,-9,4,7,100,0,-7,2,3,7,5,6/memory=scattered");
  const Case small = shrink(subject, {}, "matches_reference", from, text);
  EXPECT_LE(case_id(small).size(), case_id(from).size());
  int sevens = 0, others = 0;
  for (i64 v : small.data[0]) sevens += v == 7, others += v != 7 && v != 0;
  EXPECT_EQ(sevens, 1) << case_id(small);
  EXPECT_EQ(others, 0) << case_id(small);
  EXPECT_EQ(small.layout, Layout::compact);
  EXPECT_NE(text.find("expected 7"), std::string::npos) << text;
}

TEST(Shrink, FindsOneValueAmongManyInTurn) {
  Afraid subject;
  std::string text;
  const Case from = parse_case("relu/in=4096@16/fill=range:30000");
  const Case small = shrink(subject, {}, "matches_reference", from, text);
  EXPECT_EQ(case_id(small), "relu/in=1@16/data=7");
}

TEST(Shrink, FindsTheSmallestOfOddNumbers) {
  Afraid subject;
  std::string text;
  subject.of_odd_beyond = 0;
  Case from = parse_case("relu/in=1@8/data=127");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)), "relu/in=1@8/data=1");
  subject.of_odd_beyond = 1 << 24;
  from = parse_case("relu/in=1@26/data=33554431");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)),
            "relu/in=1@26/data=16777217");
}

// Groups hold channels, kernel and padding together: no one of them becomes less alone.
TEST(Shrink, BeginsAgainNearTheSimplestCall) {
  Afraid subject;
  subject.of_odd_beyond = 1 << 24;
  std::string text;
  const Case from = parse_case(
      "conv2d/channels=2/kernel_size=2,2/padding=1,1/groups=2/in=1x8x1x1@8+2x4x2x2@8+2@27/"
      "data=0,0,0,0,0,0,0,0+0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0+"
      "0,33554431");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)),
            "conv2d/channels=1/kernel_size=1,1/in=1x1x1x1@8+1x1x1x1@8+1@27/data=0+0+16777217");
}

TEST(Shrink, KeepsACaseThatHolds) {
  ReferenceSubject subject;
  std::string text;
  const Case from = parse_case("relu/in=2@8/data=1,7");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)), case_id(from));
  EXPECT_EQ(text, "");
}

// Accepts what is illegal.
class Lenient : public ReferenceSubject {
 public:
  Answer refuse(const Case&) override { return {}; }
};

TEST(Shrink, WritesNoValuesOfAPrecisionThatHasNone) {
  Lenient subject;
  std::string text;
  const Case from = parse_case("relu/in=2x3@0");
  EXPECT_EQ(case_id(shrink(subject, {}, "rejects", from, text)), "relu/in=1@0/fill=zero:0");
  EXPECT_NE(text.find("the call was accepted"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::judge
