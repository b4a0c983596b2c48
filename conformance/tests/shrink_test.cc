// A planted fault is found again in the smallest call that shows it.
#include "conformance/shrink.h"

#include <gtest/gtest.h>

#include "conformance/tests/reference_subject.h"

namespace lockstep::judge {
namespace {

// Wrong exactly where an element is 7, or odd.
class Afraid : public ReferenceSubject {
 public:
  bool of_odd = false;

  Answer execute(const Case& c, const std::vector<Tensor>& in, const Inferred& out,
                 const Run& run) override {
    Answer a = ReferenceSubject::execute(c, in, out, run);
    for (i32& y : a.out[0]) y += of_odd ? y % 2 != 0 : y == 7;
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
  subject.of_odd = true;
  std::string text;
  const Case from = parse_case("relu/in=1@8/data=127");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)), "relu/in=1@8/data=1");
}

TEST(Shrink, KeepsACaseThatHolds) {
  ReferenceSubject subject;
  std::string text;
  const Case from = parse_case("relu/in=2@8/data=1,7");
  EXPECT_EQ(case_id(shrink(subject, {}, "matches_reference", from, text)), case_id(from));
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace lockstep::judge
