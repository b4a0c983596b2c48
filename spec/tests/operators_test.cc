// The rules that are easy to get wrong, each on both sides of its boundary, and the exactness of
// the arithmetic where 64 bits are nearly full.
#include "spec/operators.h"

#include <gtest/gtest.h>

#include "spec/tests/judged.h"

namespace lockstep {
namespace {

TEST(Sum, PrecisionGrowsByTheTermsOfOneOutput) {
  EXPECT_EQ(output<Sum>({.axis = {0}}, {{{7, 5}, 8}}).precision, 11);
  EXPECT_EQ(output<Sum>({.axis = {0}}, {{{8, 5}, 8}}).precision, 12);
  EXPECT_EQ(label<Sum>({}, {{{127}, 25}}), "");
  EXPECT_EQ(label<Sum>({}, {{{128}, 25}}), "sum.precision");
  EXPECT_EQ(label<Sum>({.axis = {0}, .exclude = true}, {{{128}, 31}}), "");
  EXPECT_EQ(label<Sum>({.axis = {0}, .exclude = true}, {{{128}, 32}}), "sum.precision");
}

TEST(Max, AxesAreJudgedBeforeTheirRepetition) {
  EXPECT_EQ(label<Max>({.axis = {-2, 1}}, {{{2, 3}, 32}}), "");
  EXPECT_EQ(label<Max>({.axis = {-2, 0}}, {{{2, 3}, 32}}), "max.axis_twice");
  EXPECT_EQ(label<Max>({.axis = {0, 0, 2}}, {{{2, 3}, 32}}), "max.axis");
  EXPECT_EQ(label<Max>({.axis = {-3}}, {{{2, 3}, 32}}), "max.axis");
  EXPECT_EQ(label<Max>({.axis = {INT64_MIN}}, {{{2, 3}, 32}}), "max.axis");
  EXPECT_EQ(label<Max>({.axis = {INT64_MAX}}, {{{2, 3}, 32}}), "max.axis");
}

TEST(BroadcastAdd, AlignsFromTheRight) {
  EXPECT_EQ(label<BroadcastAdd>({}, {{{2, 3}, 8}, {{3}, 8}}), "");
  EXPECT_EQ(label<BroadcastAdd>({}, {{{2, 3}, 8}, {{2}, 8}}), "broadcast_add.extents");
  EXPECT_EQ(label<BroadcastAdd>({}, {{{2, 3}, 8}, {{2, 1}, 8}}), "");
  EXPECT_EQ(output<BroadcastAdd>({}, {{{2, 1}, 8}, {{4, 1, 3}, 9}}), (Type{{4, 2, 3}, 10}));
}

TEST(BroadcastAdd, OutputsStayInsideTheLimits) {
  const i64 n = i64{1} << 15;
  EXPECT_EQ(label<BroadcastAdd>({}, {{{n, 1}, 31}, {{n}, 31}}), "");
  EXPECT_EQ(label<BroadcastAdd>({}, {{{n, 1}, 32}, {{n + 1}, 32}}), "broadcast_add.shape");
  EXPECT_EQ(label<BroadcastAdd>({}, {{{n, 1}, 32}, {{n}, 1}}), "broadcast_add.precision");
}

const Conv2d::Attrs kConv{.channels = 4, .kernel_size = {3, 3}, .groups = 2};

TEST(Conv2d, CountsTheBias) {
  EXPECT_EQ(label<Conv2d>(kConv, {{{1, 4, 3, 3}, 8}, {{4, 2, 3, 3}, 8}, {{4}, 31}}), "");
  EXPECT_EQ(label<Conv2d>(kConv, {{{1, 4, 3, 3}, 8}, {{4, 2, 3, 3}, 8}}), "op.inputs");
  Conv2d::Attrs without = kConv;
  without.use_bias = false;
  EXPECT_EQ(label<Conv2d>(without, {{{1, 4, 3, 3}, 8}, {{4, 2, 3, 3}, 8}}), "");
  EXPECT_EQ(label<Conv2d>(without, {{{1, 4, 3, 3}, 8}, {{4, 2, 3, 3}, 8}, {{4}, 8}}), "op.inputs");
}

TEST(Conv2d, OfTwoViolationsTheEarlierRuleNamesTheError) {
  // Each call violates its own rule and all later ones.
  const Type x{{1, 4, 2, 3}, 9}, w{{4, 2, 3, 3}, 8}, b{{4}, 8};
  EXPECT_EQ(
      label<Conv2d>(kConv, {{{1, 5, 2, 3}, 9}, {{4, 1, 3, 3}, 8}, {{5}, 8}}), "conv2d.groups");
  EXPECT_EQ(label<Conv2d>(kConv, {x, {{4, 4, 3, 3}, 8}, {{5}, 8}}), "conv2d.weight");
  EXPECT_EQ(label<Conv2d>(kConv, {x, w, {{5}, 8}}), "conv2d.bias");
  EXPECT_EQ(label<Conv2d>(kConv, {x, w, b}), "conv2d.window");
  EXPECT_EQ(label<Conv2d>(kConv, {{{1, 4, 3, 3}, 9}, w, b}), "conv2d.bits");
  EXPECT_EQ(label<Conv2d>(kConv, {{{1, 4, 3, 3}, 8}, w, {{4}, 32}}), "conv2d.precision");
}

TEST(Conv2d, GroupsDivideTheChannelsOfBothSides) {
  const auto groups = [](i64 channels, i64 c) {
    return label<Conv2d>(
        {.channels = channels, .kernel_size = {1, 1}, .groups = 2, .use_bias = false},
        {{{1, c, 1, 1}, 8}, {{channels, c / 2, 1, 1}, 8}});
  };
  EXPECT_EQ(groups(4, 6), "");
  EXPECT_EQ(groups(3, 6), "conv2d.groups");
  EXPECT_EQ(groups(4, 5), "conv2d.groups");
}

TEST(Conv2d, BothFactorsHaveAtMost8Bits) {
  const Conv2d::Attrs a{.channels = 1, .kernel_size = {1, 1}, .use_bias = false};
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, 1}, 8}, {{1, 1, 1, 1}, 8}}), "");
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, 1}, 9}, {{1, 1, 1, 1}, 8}}), "conv2d.bits");
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, 1}, 8}, {{1, 1, 1, 1}, 9}}), "conv2d.bits");
}

TEST(Conv2d, TheDilatedKernelFitsThePaddedImage) {
  Conv2d::Attrs a{.channels = 1,
      .kernel_size = {3, 1},
      .padding = {1, 0},
      .dilation = {2, 4096},
      .use_bias = false};
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 3, 1}, 8}, {{1, 1, 3, 1}, 8}}), "");
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 2, 1}, 8}, {{1, 1, 3, 1}, 8}}), "conv2d.window");
  a = {.channels = 1, .kernel_size = {1, kMaxExtent}, .dilation = {1, 4096}, .use_bias = false};
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, 9}, 8}, {{1, 1, 1, kMaxExtent}, 8}}), "conv2d.window");
}

TEST(Conv2d, FloorsTheOutputExtents) {
  const Conv2d::Attrs a{.channels = 1, .kernel_size = {2, 2}, .strides = {2, 3}, .use_bias = false};
  EXPECT_EQ(output<Conv2d>(a, {{{1, 1, 5, 7}, 8}, {{1, 1, 2, 2}, 8}}), (Type{{1, 1, 2, 2}, 19}));
}

TEST(Conv2d, ThePaddedOutputStaysInsideTheLimits) {
  Conv2d::Attrs a{.channels = 1, .kernel_size = {1, 1}, .padding = {0, 1}, .use_bias = false};
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, kMaxExtent - 2}, 8}, {{1, 1, 1, 1}, 8}}), "");
  EXPECT_EQ(label<Conv2d>(a, {{{1, 1, 1, kMaxExtent - 1}, 8}, {{1, 1, 1, 1}, 8}}), "conv2d.shape");
}

TEST(Dense, WeightThenBiasThenBits) {
  const Dense::Attrs a{.units = 2};
  EXPECT_EQ(label<Dense>(a, {{{1, 3}, 8}, {{2, 3}, 8}, {{2}, 31}}), "");
  EXPECT_EQ(label<Dense>(a, {{{1, 3}, 9}, {{3, 2}, 8}, {{3}, 31}}), "dense.weight");
  EXPECT_EQ(label<Dense>(a, {{{1, 3}, 9}, {{2, 3}, 8}, {{3}, 31}}), "dense.bias");
  EXPECT_EQ(label<Dense>(a, {{{1, 3}, 8}, {{2, 3}, 9}, {{2}, 31}}), "dense.bits");
  EXPECT_EQ(label<Dense>(a, {{{1, 3}, 8}, {{2, 3}, 8}, {{2}, 32}}), "dense.precision");
}

TEST(Dense, DepthIsBoundedByPrecision) {
  const Dense::Attrs a{.units = 1, .use_bias = false};
  EXPECT_EQ(label<Dense>(a, {{{1, 65535}, 8}, {{1, 65535}, 8}}), "");
  EXPECT_EQ(label<Dense>(a, {{{1, 65536}, 8}, {{1, 65536}, 8}}), "dense.precision");
}

TEST(MaxPool2d, ThePaddingIsLessThanThePool) {
  const Type x{{1, 1, 2, 2}, 8};
  EXPECT_EQ(label<MaxPool2d>({.pool_size = {2, 2}, .padding = {1, 1}}, {x}), "");
  EXPECT_EQ(label<MaxPool2d>({.pool_size = {2, 2}, .padding = {1, 2}}, {x}), "max_pool2d.pool");
  EXPECT_EQ(label<MaxPool2d>({.pool_size = {3, 2}, .padding = {2}}, {x}), "max_pool2d.pool");
  EXPECT_EQ(label<MaxPool2d>({.pool_size = {4, 4}, .padding = {1}}, {x}), "");
  EXPECT_EQ(label<MaxPool2d>({.pool_size = {4, 5}, .padding = {1}}, {x}), "max_pool2d.pool");
}

TEST(MaxPool2d, TheLastWindowStartsInsideTheImage) {
  MaxPool2d::Attrs a{.pool_size = {1, 1}, .strides = {1, 2}, .ceil_mode = true};
  EXPECT_EQ(label<MaxPool2d>(a, {{{1, 1, 1, 3}, 8}}), "");
  EXPECT_EQ(label<MaxPool2d>(a, {{{1, 1, 1, 4}, 8}}), "max_pool2d.last_window");
  a.ceil_mode = false;
  EXPECT_EQ(label<MaxPool2d>(a, {{{1, 1, 1, 4}, 8}}), "");
  // The padding counts: the third window starts at 2 * 3 - 1 = 5, the extent of the image.
  a = {.pool_size = {1, 3}, .strides = {1, 3}, .padding = {0, 1}, .ceil_mode = true};
  EXPECT_EQ(label<MaxPool2d>(a, {{{1, 1, 1, 6}, 8}}), "");
  EXPECT_EQ(label<MaxPool2d>(a, {{{1, 1, 1, 5}, 8}}), "max_pool2d.last_window");
}

TEST(Flatten, TheJoinedExtentStaysInsideTheLimits) {
  EXPECT_EQ(label<Flatten>({}, {{{1, 4096, 4096}, 8}}), "");
  EXPECT_EQ(label<Flatten>({}, {{{1, 4096, 4097}, 8}}), "flatten.shape");
  EXPECT_EQ(label<Flatten>({}, {{{4096, 4097, 1}, 8}}), "");
}

TEST(Concatenate, RanksThenAxisThenExtents) {
  EXPECT_EQ(label<Concatenate>({.axis = -1}, {{{2, 1}, 8}, {{2, 5}, 9}}), "");
  EXPECT_EQ(label<Concatenate>({.axis = 7}, {{{2, 1}, 8}, {{2}, 9}}), "concatenate.ranks");
  EXPECT_EQ(label<Concatenate>({.axis = 2}, {{{2, 1}, 8}, {{3, 1}, 9}}), "concatenate.axis");
  EXPECT_EQ(label<Concatenate>({.axis = -3}, {{{2, 1}, 8}, {{2, 1}, 9}}), "concatenate.axis");
  EXPECT_EQ(label<Concatenate>({.axis = 1}, {{{2, 1}, 8}, {{3, 1}, 9}}), "concatenate.extents");
  EXPECT_EQ(label<Concatenate>({}, {{{2}, 8}}), "concatenate.axis");
}

TEST(Concatenate, TakesUpTo1024Inputs) {
  EXPECT_EQ(label<Concatenate>({.axis = 0}, {}), "op.inputs");
  EXPECT_EQ(label<Concatenate>({.axis = 0}, std::vector<Type>(1024, {{1}, 8})), "");
  EXPECT_EQ(label<Concatenate>({.axis = 0}, std::vector<Type>(1025, {{1}, 8})), "op.inputs");
  EXPECT_EQ(label<Concatenate>({.axis = 0}, std::vector<Type>(1024, {{16384}, 8})), "");
  EXPECT_EQ(
      label<Concatenate>({.axis = 0}, std::vector<Type>(1024, {{16385}, 8})), "concatenate.shape");
}

TEST(Take, TheResultHasAtMostSixAxes) {
  const Type x{{2, 2, 2}, 8};
  EXPECT_EQ(label<Take>({.axis = 1}, {x, {{1, 1, 1, 1}, 8}}), "");
  EXPECT_EQ(label<Take>({.axis = 1}, {x, {{1, 1, 1, 1, 1}, 8}}), "take.shape");
  EXPECT_EQ(
      label<Take>({.axis = -3}, {{{1, 1, 1, 1, 1, 1}, 8}, {{1, 1, 1, 1, 1, 1}, 8}}), "take.shape");
  EXPECT_EQ(label<Take>({}, {x, {{1, 1, 1, 1, 1, 1}, 8}}), "");
  EXPECT_EQ(label<Take>({.axis = 3}, {x, {{1}, 8}}), "take.axis");
  EXPECT_EQ(label<Take>({.axis = INT64_MIN}, {x, {{1}, 8}}), "take.axis");
}

std::string reshape(const Tuple& target, const Shape& x) {
  return label<Reshape>({.shape = target}, {{x, 8}});
}

TEST(Reshape, OnlySomeCodesNeedASource) {
  EXPECT_EQ(reshape({0, 0}, {2, 3}), "");
  EXPECT_EQ(reshape({0, 0, 0}, {2, 3}), "reshape.source");
  EXPECT_EQ(reshape({-3}, {2, 3}), "");
  EXPECT_EQ(reshape({0, -3}, {2, 3}), "reshape.source");
  EXPECT_EQ(reshape({2, 3, -4, 1, 1}, {2, 3}), "reshape.source");
  EXPECT_EQ(reshape({2, 3, 1, -2, -1, -2}, {2, 3}), "");
  EXPECT_EQ(reshape({1, 1, 0}, {2, 3}), "reshape.source");
}

TEST(Reshape, SplitIsExact) {
  EXPECT_EQ(reshape({-4, 2, 3}, {6}), "");
  EXPECT_EQ(reshape({-4, -1, 3}, {6}), "");
  EXPECT_EQ(reshape({-4, 6, -1}, {6}), "");
  EXPECT_EQ(reshape({-4, 4, -1}, {6}), "reshape.split");
  EXPECT_EQ(reshape({-4, -1, 7}, {6}), "reshape.split");
  EXPECT_EQ(reshape({-4, 2, 4}, {6}), "reshape.split");
  EXPECT_EQ(reshape({-4, -1, -1}, {1}), "reshape.split");
  EXPECT_EQ(reshape({-4, 0, 6}, {6}), "reshape.split");
  EXPECT_EQ(reshape({-4, -2, -3}, {6}), "reshape.split");
  EXPECT_EQ(reshape({-4, 6}, {6}), "reshape.split");
  EXPECT_EQ(reshape({6, -4, -1, -1}, {6}), "reshape.split") << "before the missing source";
  EXPECT_EQ(reshape({-4, kMaxExtent, kMaxExtent}, {6}), "reshape.split");
}

TEST(Reshape, TheFirstViolationOnTheWalkNamesTheError) {
  EXPECT_EQ(reshape({-1, -1, 0, 0, 0}, {2, 3}), "reshape.infer_twice");
  EXPECT_EQ(reshape({0, 0, 0, -1, -1}, {2, 3}), "reshape.source");
  EXPECT_EQ(reshape({-4, 5, 5, -1, -1}, {2, 3}), "reshape.split");
  EXPECT_EQ(reshape({-1, 0, 0}, {2, 3}), "reshape.source");
  EXPECT_EQ(reshape({-1, 5}, {2, 3}), "reshape.infer");
  EXPECT_EQ(reshape({-1, 12}, {2, 3}), "reshape.infer");
  EXPECT_EQ(reshape({5}, {2, 3}), "reshape.size");
}

TEST(Reshape, InferAfterEveryOtherCode) {
  const auto shape = [](const Tuple& t, const Shape& x) {
    return output<Reshape>({.shape = t}, {{x, 8}}).shape;
  };
  EXPECT_EQ(shape({-2, -1}, {2, 3}), (Shape{2, 3, 1}));
  EXPECT_EQ(shape({-3, -1}, {2, 3, 4}), (Shape{6, 4}));
  EXPECT_EQ(shape({-4, 2, -1, -1}, {6, 5}), (Shape{2, 3, 5}));
  EXPECT_EQ(shape({-1}, {2, 3, 4}), (Shape{24}));
  EXPECT_EQ(shape({-1, 0}, {6, 4}), (Shape{6, 4}));
}

TEST(Reshape, ProductsSaturate) {
  const Tuple huge = Tuple::filled(16, kMaxExtent);
  EXPECT_EQ(reshape(huge, {2, 3}), "reshape.size");
  Tuple inferred = huge;
  inferred[15] = -1;
  EXPECT_EQ(reshape(inferred, {2, 3}), "reshape.infer");
}

TEST(Reshape, TheResultStaysInsideTheLimits) {
  EXPECT_EQ(reshape({-2, 1, 1, 1}, {2, 3, 4}), "");
  EXPECT_EQ(reshape({-2, 1, 1, 1, 1}, {2, 3, 4}), "reshape.shape");
  EXPECT_EQ(reshape({-3}, {4096, 4096}), "");
  EXPECT_EQ(reshape({-3}, {4096, 4097}), "reshape.shape");
  EXPECT_EQ(reshape({-2, -4, 1, 1}, {1, 1, 1, 1, 1, 1}), "reshape.source");
}

std::string slice(const StridedSlice::Attrs& a, const Shape& x) {
  return label<StridedSlice>(a, {{x, 8}});
}

TEST(StridedSlice, LengthThenStrideThenEmpty) {
  EXPECT_EQ(slice({.begin = {0, 0}, .end = {0}, .stride = {0}}, {3}), "strided_slice.length");
  EXPECT_EQ(slice({.begin = {0}, .end = {0, 0}, .stride = {0}}, {3}), "strided_slice.length");
  EXPECT_EQ(slice({.begin = {0}, .end = {0}, .stride = {0, 1}}, {3}), "strided_slice.length");
  EXPECT_EQ(slice({.begin = {0}, .end = {0}, .stride = {0}}, {3}), "strided_slice.stride");
  EXPECT_EQ(slice({.begin = {0}, .end = {0}, .stride = {1}}, {3}), "strided_slice.empty");
  EXPECT_EQ(slice({.begin = {0}, .end = {1}, .stride = {1}}, {3}), "");
}

TEST(StridedSlice, EndZeroIsZero) {
  EXPECT_EQ(slice({.begin = {1}, .end = {0}}, {3}), "strided_slice.empty");
  EXPECT_EQ(slice({.begin = {1}, .end = {0}, .stride = {-1}}, {3}), "");
}

TEST(StridedSlice, ANegativeStrideNeedsAnEnd) {
  EXPECT_EQ(slice({.begin = {2}, .end = {}, .stride = {-1}}, {3}), "strided_slice.empty");
  EXPECT_EQ(slice({.begin = {2}, .end = {-3}, .stride = {-1}}, {3}), "");
  EXPECT_EQ(slice({.begin = {}, .end = {-4}, .stride = {-1}}, {3}), "");
  EXPECT_EQ(slice({.begin = {}, .end = {-3}, .stride = {-1}}, {3}), "strided_slice.empty");
}

TEST(StridedSlice, ExtentsRoundUpAndFarEndsAreClamped) {
  const auto extent = [](i64 b, i64 e, i64 s) {
    return output<StridedSlice>({.begin = {b}, .end = {e}, .stride = {s}}, {{{5}, 8}}).dim(0);
  };
  EXPECT_EQ(extent(0, 5, 2), 3);
  EXPECT_EQ(extent(0, 4, 2), 2);
  EXPECT_EQ(extent(-kIntMax, kIntMax, 1), 5);
  EXPECT_EQ(extent(kIntMax, -kIntMax, -1), 5);
  EXPECT_EQ(extent(4, -6, -2), 3);
  EXPECT_EQ(extent(0, 5, kIntMax), 1);
  EXPECT_EQ(extent(4, -6, -kIntMax), 1);
}

TEST(GetValidCounts, ColumnsAndCountPrecision) {
  EXPECT_EQ(label<GetValidCounts>({}, {{{1, 4, 2}, 8}}), "");
  EXPECT_EQ(label<GetValidCounts>({}, {{{1, 4, 1}, 8}}), "get_valid_counts.columns");
  EXPECT_EQ(label<GetValidCounts>({}, {{{1, 4, 31}, 8}}), "");
  EXPECT_EQ(label<GetValidCounts>({}, {{{1, 4, 32}, 8}}), "get_valid_counts.columns");
  EXPECT_EQ(output<GetValidCounts>({}, {{{1, 3, 2}, 8}}).precision, 4);
  EXPECT_EQ(output<GetValidCounts>({}, {{{1, 7, 2}, 8}}).precision, 5);
  // The largest legal X: the count's precision is exactly 32.
  EXPECT_EQ(label<GetValidCounts>({}, {{{1, kMaxExtent, 31}, 32}}), "");
}

TEST(NonMaxSuppression, ColumnsThenBatchThenBits) {
  EXPECT_EQ(label<NonMaxSuppression>({}, {{{2, 4, 6}, 31}, {{2}, 32}}), "");
  EXPECT_EQ(
      label<NonMaxSuppression>({}, {{{2, 4, 5}, 32}, {{3}, 32}}), "non_max_suppression.columns");
  EXPECT_EQ(
      label<NonMaxSuppression>({}, {{{2, 4, 6}, 32}, {{3}, 32}}), "non_max_suppression.batch");
  EXPECT_EQ(label<NonMaxSuppression>({}, {{{2, 4, 6}, 32}, {{2}, 32}}), "non_max_suppression.bits");
}

/// How many of these rows survive.
i64 kept(const NonMaxSuppression::Attrs& a, std::vector<i32> rows) {
  const i64 n = static_cast<i64>(rows.size()) / 6;
  std::vector<i32> got(rows.size());
  const i32 count = static_cast<i32>(n);
  const CheckedView in[] = {
      CheckedView({{1, n, 6}, 31}, rows.data()), CheckedView({{1}, 31}, &count)};
  const CheckedOut out[] = {CheckedOut({{1, n, 6}, 31}, got.data())};
  NonMaxSuppression::eval(a, Span<CheckedView>{in, 2}, Span<CheckedOut>{out, 1});
  i64 k = 0;
  while (k < n && out[0](0, k, 0) >= 0) ++k;
  return k;
}
/// Whether the first of two boxes suppresses the second at this threshold.
bool suppresses(i64 percent, std::vector<i32> first, std::vector<i32> second) {
  std::vector<i32> rows{0, 9};
  rows.insert(rows.end(), first.begin(), first.end());
  rows.insert(rows.end(), {0, 8});
  rows.insert(rows.end(), second.begin(), second.end());
  return kept({.iou_threshold = percent}, rows) == 1;
}

TEST(NonMaxSuppression, ThresholdIsReachedNotExceeded) {
  // Overlap 5, union 10: 50 percent.
  EXPECT_TRUE(suppresses(50, {0, 0, 10, 1}, {5, 0, 10, 1}));
  EXPECT_FALSE(suppresses(51, {0, 0, 10, 1}, {5, 0, 10, 1}));
  // Overlap 1, union 3: 33 percent, rounded down.
  EXPECT_TRUE(suppresses(33, {0, 0, 2, 1}, {1, 0, 3, 1}));
  EXPECT_FALSE(suppresses(34, {0, 0, 2, 1}, {1, 0, 3, 1}));
  EXPECT_FALSE(suppresses(1, {0, 0, 1, 1}, {1, 0, 2, 1})) << "they only touch";
  EXPECT_FALSE(suppresses(1, {3, 3, 3, 3}, {3, 3, 3, 3})) << "points cover nothing";
}

TEST(NonMaxSuppression, TheWidestBoxesDoNotOverflow) {
  constexpr i32 m = (1 << 30) - 1;
  const std::vector<i32> all{-m, -m, m, m}, inverted{m, m, -m, -m}, half{-m, -m, 0, m};
  EXPECT_TRUE(suppresses(100, all, all));
  EXPECT_FALSE(suppresses(101, all, all));
  EXPECT_TRUE(suppresses(50, all, half));
  EXPECT_FALSE(suppresses(51, all, half));
  EXPECT_FALSE(suppresses(1, all, inverted)) << "no overlap: the second box is inside out";
  EXPECT_FALSE(suppresses(1, {-m, m, m, -m}, {-m, m, m, -m})) << "negative areas";
}

TEST(NonMaxSuppression, OverlapsBeyond64BitsDivideTheUnionFirst) {
  // Overlap w (w - 1), union twice that and 1: 49 percent rounded down, but 50 where 100 times the
  // overlap exceeds 64 bits and the union loses its last two digits instead.
  const auto half = [](i64 percent, i32 w) {
    return suppresses(percent, {0, 0, w, w}, {0, 0, 2 * w - 1, w - 1});
  };
  constexpr i32 last_exact = 303'700'050;
  EXPECT_TRUE(half(49, last_exact));
  EXPECT_FALSE(half(50, last_exact));
  EXPECT_TRUE(half(50, last_exact + 1));
  EXPECT_FALSE(half(51, last_exact + 1));
}

TEST(NonMaxSuppression, TopKReadsBeforeItKeeps) {
  const std::vector<i32> rows{0, 9, 0, 0, 9, 9, 0, 8, 0, 0, 9, 9, 0, 7, 20, 20, 29, 29};
  EXPECT_EQ(kept({}, rows), 2);
  EXPECT_EQ(kept({.top_k = 2}, rows), 1);
  EXPECT_EQ(kept({.top_k = 0}, rows), 0);
  EXPECT_EQ(kept({.max_output_size = 1}, rows), 1);
  EXPECT_EQ(kept({.max_output_size = 0}, rows), 0);
  EXPECT_EQ(kept({.max_output_size = -kIntMax, .top_k = -kIntMax}, rows), 2);
}

}  // namespace
}  // namespace lockstep
