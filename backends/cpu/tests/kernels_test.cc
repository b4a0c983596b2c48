// Every kernel against the reference: full-range data, any layout, shapes beside every edge.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "backends/cpu/tests/modes.h"
#include "spec/ops/broadcast_div.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cpu {
namespace {

class Kernels : public InEachMode {
 protected:
  const std::string conv2d_path = GetParam().path("conv2d"), dense_path = GetParam().path("dense");
};

INSTANTIATE_TEST_SUITE_P(
    Modes, Kernels, testing::ValuesIn(modes()), [](const auto& p) { return name_of(p.param); });

// A convolution of any shape: vector tails, strides and dilations with common divisors, groups.
TestCall drawn_conv2d(Draw& draw) {
  Conv2dAttrs a;
  a.groups = draw.coin() ? 1 : draw(2, 5);
  const i64 group = draw.coin() ? draw(1, 3) : draw(1, 9);
  a.channels = a.groups * (draw(0, 4) == 0 ? 16 * draw(1, 4) : draw(1, draw.coin() ? 3 : 14));
  a.use_bias = draw.coin();
  a.strides = a.padding = a.dilation = {};
  Shape x{draw(1, 2), a.groups * group};
  for (int d = 0; d < 2; ++d) {
    const i64 k = draw(1, 4), dilation = draw(1, 4), padding = draw(0, 5);
    a.kernel_size.push(k);
    a.dilation.push(dilation);
    a.padding.push(padding);
    a.strides.push(draw(1, 6));
    x.push(max(1, (k - 1) * dilation + 1 - 2 * padding) + draw(0, d == 0 ? 6 : 40));
  }
  std::vector<Type> in = {
      {x, 8}, {{a.channels, group, a.kernel_size[0], a.kernel_size[1]}, draw.precision(8)}};
  if (a.use_bias) in.push_back({{a.channels}, draw.precision(31)});
  return call_of<Conv2d>(a, in, draw);
}

TestCall drawn_dense(Draw& draw) {
  DenseAttrs a;
  a.units = draw(1, 70);
  a.use_bias = draw.coin();
  const i64 depth = draw(0, 4) == 0 ? draw(1041, 1100) : draw(1, 40);
  std::vector<Type> in = {{{draw(1, 60), depth}, 8}, {{a.units, depth}, 8}};
  if (a.use_bias) in.push_back({{a.units}, draw.precision(31)});
  return call_of<Dense>(a, in, draw);
}

TEST_P(Kernels, MatchTheReferenceOnEveryDomain) {
  for (const OpInfo* op : operators()) {
    SCOPED_TRACE(op->name);
    judge_drawn(400, GetParam().path(op->name), [op](Draw& draw) {
      Drawn drawn;
      op->domain(draw, drawn);
      return filled(*op, drawn, draw);
    });
  }
}

TEST_P(Kernels, ComputeConvolutionsAndProductsOfAnyShape) {
  judge_drawn(1000, conv2d_path, drawn_conv2d, 2);
  judge_drawn(150, dense_path, drawn_dense, 2);
}

// Images and matrices of several blocks, in every direction in which they are cut.
TEST_P(Kernels, CutWhatIsLarge) {
  Seeded draw(1);
  const auto conv2d = [&](i64 channels, i64 groups, const Shape& x, i64 k, i64 stride) {
    const Conv2dAttrs a{.channels = channels,
        .kernel_size = {k, k},
        .strides = {stride, stride},
        .padding = {k / 2, k / 2},
        .groups = groups,
        .use_bias = false};
    return call_of<Conv2d>(a, {{x, 8}, {{channels, x[1] / groups, k, k}, 8}}, draw);
  };
  EXPECT_EQ(judge(backend, conv2d(1, 1, {2, 40, 170, 169}, 1, 1), draw), conv2d_path) << "rows";
  EXPECT_EQ(judge(backend, conv2d(1, 1, {1, 2200, 3, 171}, 3, 1), draw), conv2d_path) << "columns";
  EXPECT_EQ(judge(backend, conv2d(30, 30, {1, 30, 120, 119}, 2, 3), draw), conv2d_path) << "groups";
  EXPECT_EQ(judge(backend, conv2d(500, 1, {1, 200, 2, 3}, 3, 1), draw), conv2d_path) << "outputs";
  EXPECT_EQ(judge(backend, conv2d(4, 4, {2, 4, 150, 140}, 3, 1), draw), conv2d_path) << "lines";
  EXPECT_EQ(judge(backend, conv2d(6, 3, {1, 3, 1, 9000}, 3, 2), draw), conv2d_path)
      << "columns of lines";
  for (int k = 0; k < 40; ++k)  // some are compact and have data without a period
    EXPECT_EQ(judge(backend, conv2d(2, 2, {1, 2, 300, 5}, 3, 1), draw), conv2d_path) << "edges";
  EXPECT_EQ(judge(backend, conv2d(2, 1, {1, 40'000, 1, 19}, 1, 1), draw), conv2d_path)
      << "columns of more than a block's bytes";
  const auto dense = [&](i64 rows, i64 depth, i64 units) {
    return call_of<Dense>(
        {.units = units, .use_bias = false}, {{{rows, depth}, 8}, {{units, depth}, 8}}, draw);
  };
  EXPECT_EQ(judge(backend, dense(50, 50'001, 1), draw), dense_path) << "rows";
  EXPECT_EQ(judge(backend, dense(1, 50'001, 50), draw), dense_path) << "lanes";
  EXPECT_EQ(judge(backend, dense(100, 65, 100), draw), dense_path) << "items";
  const TestCall both = dense(70, 16'390, 80);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(judge(backend, both, draw), dense_path) << "both factors";
  const TestCall deep = call_of<Dense>(
      {.units = 9, .use_bias = true}, {{{2, 300'001}, 4}, {{9, 300'001}, 4}, {{9}, 20}}, draw);
  EXPECT_EQ(judge(backend, deep, draw), dense_path) << "depth";
}

// The deepest legal sums at 8 bits, with terms of one sign: beyond 2^24, near 2^30.
TEST_P(Kernels, AddWithoutLoss) {
  Seeded draw(2);
  for (const i64 depth : {1040, 1041, 65'535})
    for (const i32 sign : {1, -1}) {
      TestCall c =
          call_of<Dense>({.units = 2, .use_bias = false}, {{{3, depth}, 8}, {{2, depth}, 8}}, draw);
      for (i32& v : c.in[0].data) v = 127;
      for (i32& v : c.in[1].data) v = 127 * sign;
      EXPECT_EQ(judge(backend, c, draw), dense_path);
    }
}

// Quotients that are integers, or as close to one as a quotient can be, by divisors of every size.
TEST_P(Kernels, DivideExactly) {
  std::vector<i64> divisors = {kIntMax, 46'341, 1'000'003};
  for (i64 d = 1; d < 200; ++d) divisors.push_back(d);  // 49 * (1 / 49) < 1 in doubles
  for (i64 power = 1; power < kIntMax; power *= 2)
    for (i64 d : {power - 1, power, power + 1}) divisors.push_back(d);
  std::vector<i64> factors = {0, 1, 2, 3, 7, 10, 2047, 1'000'003};
  constexpr i64 kNearest[] = {-1, 0, 1}, kSigns[] = {1, -1};
  const auto rows = static_cast<i64>(2 * divisors.size());
  const auto columns = 12 * static_cast<i64>(factors.size());
  Seeded draw(4);
  TestCall c = call_of<BroadcastDiv>({}, {{{rows, columns}, 32}, {{rows, 1}, 32}}, draw);
  c.in[0].data.clear(), c.in[1].data.clear();
  for (i64 sign : kSigns)
    for (i64 d : divisors) {
      c.in[1].data.push_back(static_cast<i32>(sign * d));
      for (i64 k : factors)
        for (i64 factor : {k, max(0, kIntMax / max(d, 1) - k)})
          for (i64 nearest : kNearest)
            for (i64 s : kSigns)
              c.in[0].data.push_back(
                  static_cast<i32>(clamp(s * (factor * d + nearest), -kIntMax, kIntMax)));
    }
  for (int k = 0; k < 8; ++k) EXPECT_EQ(judge(backend, c, draw), GetParam().path("broadcast_div"));
}

TEST_P(Kernels, LeaveWhatTheyDoNotServeToTheSpecification) {
  Seeded draw(3);
  const i64 wide = (i64{1} << 22) + 9;
  const Conv2dAttrs a{.channels = 1, .kernel_size = {1, wide}, .use_bias = false};
  const TestCall row = call_of<Conv2d>(a, {{{1, 1, 1, wide + 1}, 2}, {{1, 1, 1, wide}, 2}}, draw);
  EXPECT_EQ(judge(backend, row, draw), "generic");
}

// A window of the size of the image makes a matrix product of a convolution, in any layout.
TEST_P(Kernels, MultiplyMatricesWhereTheWindowIsTheImage) {
  judge_drawn(60, conv2d_path, [](Draw& draw) {
    const i64 height = draw(1, 3), width = draw(1, 3), inputs = draw(1, 9);
    const Conv2dAttrs a{.channels = draw(1, 40), .kernel_size = {height, width}};
    return call_of<Conv2d>(a,
        {{{draw(1, 4), inputs, height, width}, 8}, {{a.channels, inputs, height, width}, 8},
            {{a.channels}, 20}},
        draw);
  });
}

TEST_P(Kernels, AreUsedBySeveralThreadsAtOnce) {
  std::vector<std::thread> callers;
  for (uint64_t c = 0; c < 4; ++c)
    callers.emplace_back([this, c] {
      Seeded draw(c);
      for (int i = 0; i < 10; ++i) {
        judge(backend, drawn_conv2d(draw), draw);
        judge(backend, drawn_dense(draw), draw);
      }
    });
  for (std::thread& c : callers) c.join();
}

}  // namespace
}  // namespace lockstep::cpu
