// The grammar of formulas of precision. That each operator's formula says what `infer` says is
// proved with the operator's examples (spec/check.h), drawn calls (domain_test.cc) and golden
// vectors.
#include "spec/precision.h"

#include <gtest/gtest.h>

#include "spec/operators.h"

namespace lockstep {
namespace {

// The value of a formula for a conv2d of 2 inputs, X of 24 and W of 10 elements, Y of 12.
i64 value_of(Formula f) {
  static const Type in[] = {{{1, 2, 3, 4}, 8}, {{5, 2, 1, 1}, 7}};
  static const Attr attrs[] = {{AttrKind::integer, false, {5}}, {AttrKind::tuple, false, {1, 1}},
      {AttrKind::tuple, false, {1, 1}}, {AttrKind::tuple, false, {0, 0}},
      {AttrKind::tuple, false, {1, 1}}, {AttrKind::integer, false, {-3}},
      {AttrKind::boolean, false, {1}}};
  OpInfo op = *find_operator("conv2d");
  op.precision = {&f, 1};
  return stated_precision(op, 0, {attrs, 7}, {in, 2}, Type{{1, 1, 3, 4}, 8});
}

TEST(Precision, ReadsEveryWord) {
  EXPECT_EQ(value_of("12"), 12);
  EXPECT_EQ(value_of("p0 + p1"), 15);
  EXPECT_EQ(value_of("p2"), 0) << "an input that is not given";
  EXPECT_EQ(value_of("channels + use_bias"), 6);
  EXPECT_EQ(value_of("|X| + |W| + |B| + |Y|"), 24 + 10 + 0 + 12);
  EXPECT_EQ(value_of("|groups|"), 3) << "a magnitude";
  EXPECT_EQ(value_of("bl(0) + bl(1) + bl(4)"), 0 + 1 + 3);
  EXPECT_EQ(value_of("max(p1, p0, 3)"), 8);
  EXPECT_EQ(value_of("max(p1, ...)"), 8);
}

TEST(Precision, DividesBeforeItAddsAndRoundsDown) {
  EXPECT_EQ(value_of("1 + |X| / |W|"), 3);
  EXPECT_EQ(value_of("|X| / 5 / 2"), 2);
  EXPECT_EQ(value_of("(1 + |X|) / 5"), 5);
  EXPECT_EQ(value_of(" bl( |X|/|W| )+1"), 3);
}

TEST(Precision, RefusesWhatIsNoFormula) {
  for (const Formula f : {"", "p0 +", "p0 p1", "+ 1", "max()", "max(...)", "max(..., 1)", "bl(1",
           "|X", "|Z|", "Z", "kernel_size", "1 / 0", "p0 - 1", "p", "2p", "P0"})
    EXPECT_THROW(value_of(f), BrokenSpecification) << f;
}

}  // namespace
}  // namespace lockstep
