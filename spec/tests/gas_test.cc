// What calls cost, each worked out by hand, and the limits on both sides.
#include "spec/gas.h"

#include <gtest/gtest.h>

#include <set>

#include "spec/operators.h"
#include "spec/tests/judged.h"

namespace lockstep {
namespace {

/// The gas of a legal call as a model of its own, or which limit it exceeds.
template <class Op> std::string gas(const typename Op::Attrs& a, const std::vector<Type>& in) {
  const auto values = to_attributes<Op>(a);
  const Attributes attrs{values.data(), static_cast<int>(values.size())};
  const Types types{in.data(), static_cast<int>(in.size())};
  EXPECT_EQ(label<Op>(a, in), "");
  const GasMeter meter = gas_of(info<Op>(), attrs, types);
  return meter.exceeded().empty() ? std::to_string(meter.total()) : std::string(meter.exceeded());
}

TEST(Gas, OfThreeTensorsOfTwoElements) {
  EXPECT_EQ(gas<BroadcastAdd>({}, {{{2}, 8}, {{2}, 8}}), "32");  // 5 (2 + 2 + 2) + 2
}

TEST(Gas, OfDense) {
  // X (2,3), W (4,3): 5 (6 + 12 + 8) = 130; 8 elements at 3 * 3 = 9.
  EXPECT_EQ(gas<Dense>({.units = 4, .use_bias = false}, {{{2, 3}, 8}, {{4, 3}, 8}}), "202");
  // The bias: 4 elements more, and 8 at 10.
  EXPECT_EQ(gas<Dense>({.units = 4}, {{{2, 3}, 8}, {{4, 3}, 8}, {{4}, 8}}), "230");
}

TEST(Gas, OfConv2d) {
  const Type x{{1, 4, 3, 3}, 8}, w{{6, 2, 2, 2}, 8};
  // Y (1,6,2,2): 5 (36 + 48 + 24) = 540; 24 elements at 3 * 2 * 2 * 2 = 24.
  EXPECT_EQ(
      gas<Conv2d>({.channels = 6, .kernel_size = {2, 2}, .groups = 2, .use_bias = false}, {x, w}),
      "1116");
  EXPECT_EQ(gas<Conv2d>({.channels = 6, .kernel_size = {2, 2}, .groups = 2}, {x, w, {{6}, 8}}),
      "1170");  // 5 * 6 more, and 24 at 25
}

TEST(Gas, OfMaxPool2d) {
  // Y (1,1,2,1): 5 (12 + 2) = 70; 2 elements at 2 * 3, also where the window leaves the image.
  EXPECT_EQ(gas<MaxPool2d>({.pool_size = {2, 3}, .strides = {2, 3}}, {{{1, 1, 4, 3}, 8}}), "82");
  EXPECT_EQ(gas<MaxPool2d>({.pool_size = {2, 2}, .padding = {1}}, {{{1, 1, 1, 1}, 8}}), "41");
}

TEST(Gas, OfSum) {
  // 5 (12 + 3) = 75; 3 elements at 4. Nothing reduced: 5 (12 + 12), and 12 at 1.
  EXPECT_EQ(gas<Sum>({.axis = {1}}, {{{3, 4}, 8}}), "87");
  EXPECT_EQ(gas<Sum>({.axis = {0, 1}, .exclude = true}, {{{3, 4}, 8}}), "132");
}

TEST(Gas, OfNonMaxSuppression) {
  // X (2,3,6) and 2 counts: 5 (36 + 2 + 36) = 370; 36 elements at 40.
  EXPECT_EQ(gas<NonMaxSuppression>({}, {{{2, 3, 6}, 8}, {{2}, 8}}), "1810");
}

TEST(Gas, OfTwoOutputsTheFirstIsWork) {
  // X (2,3,4): 5 (24 + 2 + 24) = 250; 2 counts at 1.
  EXPECT_EQ(gas<GetValidCounts>({}, {{{2, 3, 4}, 8}}), "252");
}

TEST(Gas, OfOneElementIsLimited) {
  // The largest window that is legal would cost 2^30 + 2^15 for one element.
  const i64 n = i64{1} << 15;
  const MaxPool2dAttrs most{.pool_size = {n, n}};
  EXPECT_EQ(gas<MaxPool2d>(most, {{{1, 1, n, n}, 8}}), std::to_string((5 + 1) * (n * n) + 5));
  const MaxPool2dAttrs more{.pool_size = {n, n + 1}, .padding = {0, 1}};
  EXPECT_EQ(gas<MaxPool2d>(more, {{{1, 1, n, n}, 8}}), "the gas of one element is above 2^30");
}

TEST(Gas, OfAllCallsIsLimited) {
  // Y (1024,1024) at 3 K = 2^20 - 1; 2^20 elements at 2^20 are 2^40.
  const i64 m = 1024, k = (i64{1} << 20) / 3;
  EXPECT_EQ(gas<Dense>({.units = m}, {{{m, k}, 4}, {{m, k}, 4}, {{m}, 4}}),
      std::to_string((i64{1} << 40) + 5 * (2 * m * k + m + m * m)));
  EXPECT_EQ(gas<Dense>({.units = m}, {{{m, k + 1}, 4}, {{m, k + 1}, 4}, {{m}, 4}}),
      "the gas of all calls is above 2^40");
}

TEST(Gas, OfAllTensorsIsLimited) {
  const Type widest{{64, kMaxExtent}, 8};
  GasMeter meter;
  // 204 tensors of 2^30 elements and one of 2^40 / 5 - 204 * 2^30 are as many as there may be.
  for (int i = 0; i < 204; ++i) meter.variable(widest);
  const i64 left = kMaxGasTerm / kGasPerElement - 204 * kMaxVolume;
  meter.variable({{left / 256, 256}, 8});
  meter.variable({{left % 256}, 8});
  EXPECT_EQ(meter.exceeded(), "");
  EXPECT_EQ(meter.total(), kMaxGasTerm / kGasPerElement * kGasPerElement);
  meter.variable({{1}, 8});
  EXPECT_EQ(meter.exceeded(), "the gas of all tensors is above 2^40");
  for (int i = 0; i < 1 << 20; ++i) meter.variable(widest);  // nothing more is added
  EXPECT_EQ(meter.exceeded(), "the gas of all tensors is above 2^40");
}

// An operator that is missing here would silently cost 1.
TEST(Gas, IsItsOwnWhereTheSpecificationSaysSo) {
  std::set<string_view> own;
  for (const OpInfo* op : operators())
    if (op->gas_text != "1") own.insert(op->name);
  EXPECT_EQ(
      own, (std::set<string_view>{"conv2d", "dense", "max_pool2d", "non_max_suppression", "sum"}));
}

}  // namespace
}  // namespace lockstep
