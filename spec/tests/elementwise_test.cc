// The limits at which the elementwise operators begin to refuse.
#include <gtest/gtest.h>

#include "spec/tests/judged.h"

namespace lockstep {
namespace {

TEST(BroadcastSub, OneBitMoreThanTheWiderInput) {
  EXPECT_EQ(output<BroadcastSub>({}, {{{2}, 3}, {{2}, 7}}).precision, 8);
  EXPECT_EQ(label<BroadcastSub>({}, {{{2}, 31}, {{2}, 31}}), "");
  EXPECT_EQ(label<BroadcastSub>({}, {{{2}, 1}, {{2}, 32}}), "broadcast_sub.precision");
}

TEST(BroadcastMul, PrecisionsAddUp) {
  EXPECT_EQ(label<BroadcastMul>({}, {{{2}, 31}, {{2}, 1}}), "");
  EXPECT_EQ(label<BroadcastMul>({}, {{{2}, 16}, {{2}, 16}}), "");
  EXPECT_EQ(label<BroadcastMul>({}, {{{2}, 16}, {{2}, 17}}), "broadcast_mul.precision");
  EXPECT_EQ(label<BroadcastMul>({}, {{{2}, 17}, {{3}, 17}}), "broadcast_mul.extents");
}

TEST(BroadcastDiv, TheDividendDecidesThePrecision) {
  EXPECT_EQ(output<BroadcastDiv>({}, {{{2, 1}, 5}, {{3}, 32}}), (Type{{2, 3}, 5}));
  const i64 n = i64{1} << 15;
  EXPECT_EQ(label<BroadcastDiv>({}, {{{n, 1}, 32}, {{2 * n}, 32}}), "broadcast_div.shape");
  EXPECT_EQ(label<BroadcastDiv>({}, {{{n, 1}, 32}, {{n}, 32}}), "");
}

TEST(BroadcastGreater, HasAtLeastTwoBits) {
  EXPECT_EQ(output<BroadcastGreater>({}, {{{2}, 1}, {{2}, 9}}).precision, 2);
  EXPECT_EQ(output<BroadcastGreater>({}, {{{2}, 3}, {{2}, 9}}).precision, 3);
}

TEST(ElemwiseAdd, ShapesAreEqualAndNotOnlyAligned) {
  EXPECT_EQ(label<ElemwiseAdd>({}, {{{2, 3}, 8}, {{2, 3}, 31}}), "");
  EXPECT_EQ(label<ElemwiseAdd>({}, {{{2, 3}, 8}, {{3}, 32}}), "elemwise_add.extents");
  EXPECT_EQ(label<ElemwiseSub>({}, {{{2, 3}, 8}, {{1, 3}, 8}}), "elemwise_sub.extents");
  EXPECT_EQ(label<ElemwiseSub>({}, {{{2}, 32}, {{2}, 1}}), "elemwise_sub.precision");
}

TEST(Clip, TheBoundsDecideThePrecision) {
  const auto precision = [](i64 lo, i64 hi) {
    return output<Clip>({.a_min = lo, .a_max = hi}, {{{2}, 32}}).precision;
  };
  EXPECT_EQ(precision(-1, 0), 3);
  EXPECT_EQ(precision(-126, 126), 8);
  EXPECT_EQ(precision(-127, 0), 9);
  EXPECT_EQ(precision(0, 127), 9);
  EXPECT_EQ(precision(5, kIntMax - 1), 32);
}

TEST(Clip, ABoundOfAllBitsIsTooWide) {
  EXPECT_EQ(label<Clip>({.a_min = 0, .a_max = kIntMax - 1}, {{{2}, 8}}), "");
  EXPECT_EQ(label<Clip>({.a_min = 0, .a_max = kIntMax}, {{{2}, 8}}), "clip.precision");
  EXPECT_EQ(label<Clip>({.a_min = -kIntMax, .a_max = 0}, {{{2}, 8}}), "clip.precision");
  EXPECT_EQ(label<Clip>({.a_min = -kIntMax - 1, .a_max = 0}, {{{2}, 8}}), "attr.range");
  EXPECT_EQ(label<Clip>({.a_min = 1, .a_max = 1}, {{{2}, 8}}), "clip.bounds");
  EXPECT_EQ(label<Clip>({.a_min = kIntMax, .a_max = 0}, {{{2}, 8}}), "clip.bounds");
}

TEST(CvmLeftShift, TheProductHas32BitsAtMost) {
  const auto shifted = [](i64 bits, int p) {
    return label<CvmLeftShift>({.precision = 8, .shift_bit = bits}, {{{2}, p}});
  };
  EXPECT_EQ(shifted(24, 8), "");
  EXPECT_EQ(shifted(25, 8), "cvm_left_shift.width");
  EXPECT_EQ(shifted(31, 1), "");
  EXPECT_EQ(shifted(32, 1), "cvm_left_shift.width");
  EXPECT_EQ(shifted(33, 1), "attr.range");
}

TEST(Where, TheConditionHasTheShapeOrTheRows) {
  EXPECT_EQ(output<Where>({}, {{{2, 3}, 32}, {{2, 3}, 4}, {{2, 3}, 6}}), (Type{{2, 3}, 6}));
  EXPECT_EQ(label<Where>({}, {{{2}, 8}, {{2, 3}, 8}, {{2, 3}, 8}}), "");
  EXPECT_EQ(label<Where>({}, {{{3}, 8}, {{2, 3}, 8}, {{2, 3}, 8}}), "where.condition");
  EXPECT_EQ(label<Where>({}, {{{2, 1}, 8}, {{2, 3}, 8}, {{2, 3}, 8}}), "where.condition");
  EXPECT_EQ(label<Where>({}, {{{3}, 8}, {{2, 3}, 8}, {{3}, 8}}), "where.extents");
}

TEST(CvmLut, TheTableHasAsManyEntriesAsSaid) {
  EXPECT_EQ(output<CvmLut>({.in_dim = 6}, {{{4}, 32}, {{2, 3}, 7}}), (Type{{4}, 7}));
  EXPECT_EQ(label<CvmLut>({.in_dim = 6}, {{{4}, 32}, {{2, 3}, 7}}), "");
  EXPECT_EQ(label<CvmLut>({.in_dim = 5}, {{{4}, 32}, {{2, 3}, 7}}), "cvm_lut.table");
}

}  // namespace
}  // namespace lockstep
