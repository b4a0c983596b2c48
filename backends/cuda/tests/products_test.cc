// The products of tensor cores: where fragments lie, what a block does, and the results.
#include "backends/cuda/kernels/products.h"

#include <set>

#include "backends/cuda/tests/emulated_block.h"
#include "backends/cuda/tests/subject.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

TEST(Fragments, HoldEachElementOnce) {
  std::set<std::pair<int, int>> a, b, c;
  for (int lane = 0; lane < Fragment::kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place in_a = Fragment::a(lane, i), in_c = Fragment::c(lane, i);
      for (int k = 0; k < 4; ++k) EXPECT_TRUE(a.emplace(in_a.row, in_a.column + k).second);
      EXPECT_TRUE(c.emplace(in_c.row, in_c.column).second);
      if (i >= 2) continue;
      const Place in_b = Fragment::b(lane, i);
      for (int k = 0; k < 4; ++k) EXPECT_TRUE(b.emplace(in_b.row + k, in_b.column).second);
    }
  EXPECT_EQ(a.size(), 16U * 32);
  EXPECT_EQ(b.size(), 32U * 8);
  EXPECT_EQ(c.size(), 16U * 8);
}

// Loads a's and b's elements by our mapping, multiplies by that of PTX, reads c by ours.
TEST(Fragments, MultiplyAsTheTablesOfPtxSay) {
  Seeded draw(1);
  int8_t a[16][32], b[32][8];
  i32 sums[16][8]{};
  for (auto& row : a)
    for (int8_t& v : row) v = static_cast<int8_t>(draw(-127, 127));
  for (auto& row : b)
    for (int8_t& v : row) v = static_cast<int8_t>(draw(-127, 127));
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 32; ++k) sums[i][j] += a[i][k] * b[k][j];
  i32 c[32][4]{};
  u32 fragment_a[32][4], fragment_b[32][2];
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = Fragment::a(lane, i);
      std::memcpy(&fragment_a[lane][i], &a[at.row][at.column], 4);
      if (i >= 2) continue;
      const Place from = Fragment::b(lane, i);
      const auto v = [&](int k) { return i32{b[from.row + k][from.column]}; };
      fragment_b[lane][i] = narrowed(v(0), v(1), v(2), v(3));
    }
  emulate_mma([&](int lane) { return Product{c[lane], fragment_a[lane], fragment_b[lane]}; });
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = Fragment::c(lane, i);
      EXPECT_EQ(c[lane][i], sums[at.row][at.column]) << "lane " << lane << ", register " << i;
    }
}

TEST(Panels, HoldEachChunkOnceAndKnowWhereItLies) {
  std::set<int> offsets;
  for (int row = 0; row < 128; ++row)
    for (int chunk = 0; chunk < Panel::kChunks; ++chunk) {
      const int offset = Panel::offset(row, chunk);
      EXPECT_TRUE(offsets.insert(offset).second);
      EXPECT_EQ(Panel::place(offset).row, row);
      EXPECT_EQ(Panel::place(offset).column, chunk);
    }
  EXPECT_EQ(*offsets.rbegin(), 128 * Panel::kDepth - Panel::kChunk);
}

template <class T> void expect_parts_to_cover() {
  std::set<std::pair<int, int>> seen;
  for (int warp = 0; warp < T::kThreads / 32; ++warp) {
    const Place part = T::part(warp);
    for (int i = 0; i < T::kWarpRows; ++i)
      for (int j = 0; j < T::kWarpColumns; ++j)
        EXPECT_TRUE(seen.emplace(part.row + i, part.column + j).second);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(T::kRows * T::kColumns));
  EXPECT_LE(T::kShared, 48 << 10) << "of shared memory that needs no permission";
}

TEST(Tiles, AreSharedByTheirWarps) {
  expect_parts_to_cover<LargeTile>();
  expect_parts_to_cover<SmallTile>();
  expect_parts_to_cover<ThinTile>();
}

// The sums of a lane belong to neighbouring rows of the output, and every row has a place.
template <class T> void expect_neighbours() {
  std::set<u32> rows;
  for (u32 row = 0; row < T::kRows; ++row) rows.insert(output_row(row, T::kWarpRows));
  EXPECT_EQ(rows.size(), static_cast<std::size_t>(T::kRows));
  EXPECT_EQ(*rows.rbegin(), static_cast<u32>(T::kRows - 1));
  constexpr int kOfLane = T::kWarpRows / Fragment::kRows * 2;
  for (int lane = 0; lane < Fragment::kLanes; ++lane)
    for (int part = 0; part < T::kRows; part += T::kWarpRows)
      for (int i = 0; i < kOfLane; ++i) {
        const int row = part + i / 2 * Fragment::kRows + Fragment::c(lane, i % 2 * 2).row;
        EXPECT_EQ(output_row(static_cast<u32>(row), T::kWarpRows),
            static_cast<u32>(part + Fragment::c(lane, 0).row * kOfLane + i));
      }
}

TEST(Tiles, GiveALaneNeighbours) {
  expect_neighbours<LargeTile>();
  expect_neighbours<SmallTile>();
  expect_neighbours<ThinTile>();
}

TEST(Divisors, DivideExactly) {
  constexpr i64 kMost = (i64{1} << 31) - 1;
  Seeded draw(2);
  const auto expect = [](i64 n, i64 d) {
    ASSERT_EQ(Divisor(d).quotient(static_cast<u32>(n)), n / d) << n << " / " << d;
  };
  for (i64 d = 1; d <= 2000; ++d)
    for (const i64 n : {i64{0}, d - 1, d, kMost - 1, kMost, kMost / d * d, kMost / d * d - 1})
      expect(n, d);
  for (int bits = 1; bits <= 31; ++bits)
    for (int i = 0; i < 200; ++i) {
      const i64 d = min(kMost, (i64{1} << bits) + draw(-3, 3));
      if (d > 0) expect(draw(0, kMost), d), expect(kMost / d * d, d), expect(kMost / d * d - 1, d);
    }
}

TestCall conv2d(Draw& draw, const Shape& x, i64 channels, i64 k, i64 groups = 1, i64 stride = 1) {
  const Conv2dAttrs a{.channels = channels,
      .kernel_size = {k, k},
      .strides = {stride, stride},
      .padding = {k / 2, k / 2},
      .groups = groups};
  return call_of<Conv2d>(a, {{x, 8}, {{channels, x[1] / groups, k, k}, 8}, {{channels}, 20}}, draw);
}

TestCall dense(Draw& draw, i64 rows, i64 depth, i64 units) {
  return call_of<Dense>(
      {.units = units}, {{{rows, depth}, 8}, {{units, depth}, 8}, {{units}, 20}}, draw);
}

constexpr int kFew = 1, kMany = 64;  // processors: a call has enough tiles, or its depth is split

TEST(Blocks, NeitherRaceNorWaitForBanksNorStoreTwice) {
  Seeded draw(4);
  const auto judge = [](const TestCall& call, const char* path, int processors) {
    judge_watched(open_backend(processors, kPacked), call, path, 3);
  };
  judge(conv2d(draw, {1, 20, 13, 12}, 130, 3), "conv2d_products", kFew);
  judge(conv2d(draw, {1, 5, 13, 12}, 130, 3), "conv2d_products", kFew);
  judge(conv2d(draw, {2, 40, 7, 7}, 20, 3, 2, 2), "conv2d_products", kFew);
  judge(conv2d(draw, {1, 3, 9, 20}, 7, 7), "conv2d_products", kFew);
  judge(conv2d(draw, {1, 150, 7, 7}, 20, 3), "conv2d_products", kMany);
  judge(conv2d(draw, {1, 12, 9, 9}, 12, 3, 12), "conv2d_groups", kFew);
  judge(dense(draw, 3, 300, 70), "dense_products", kFew);
  judge(dense(draw, 1, 2000, 5), "dense_products", kMany);
  judge(dense(draw, 150, 100, 140), "dense_products", kFew);
}

// The same for products in one launch, in parts of each kind: wide, deep, thin and flat.
TEST(Blocks, DoSoInOneLaunch) {
  Seeded draw(7);
  const auto judge = [](const TestCall& call, int processors) {
    judge_watched(open_backend(processors, kDirect), call, std::string(call.op->name) + "_direct",
        3, Constants::weights);
  };
  for (const int processors : {kFew, kMany}) {
    judge(conv2d(draw, {1, 20, 13, 12}, 130, 3), processors);
    judge(conv2d(draw, {2, 40, 7, 7}, 40, 3, 2, 2), processors);
    judge(conv2d(draw, {1, 3, 9, 60}, 37, 3), processors);
    judge(conv2d(draw, {1, 150, 2, 3}, 20, 3), processors);
    judge(dense(draw, 3, 300, 70), processors);
    judge(dense(draw, 1, 38, 5), processors);
    judge(dense(draw, 150, 100, 140), processors);
    judge(dense(draw, 300, 40, 33), processors);
  }
  // Few of the drawn layouts have rows whose distance is no multiple of four.
  judge_watched(
      open_backend(kFew, kDirect), dense(draw, 9, 8, 5), "dense_direct", 100, Constants::weights);
}

// Products of any shape, in any layout, beside every edge of a tile.
TEST(Products, MatchTheReference) {
  const client::Backend packs = open_backend(4, kPacked),
                        direct[] = {open_backend(kFew, kDirect), open_backend(kMany, kDirect)};
  for (int seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(static_cast<uint64_t>(seed));
    Conv2dAttrs a;
    a.groups = draw.coin() ? 1 : draw(2, 4);
    const i64 group = draw.coin() ? draw(1, 8) : draw(9, 40);
    a.channels = a.groups * (draw(0, 3) == 0 ? 16 * draw(1, 9) : draw(1, 20));
    a.use_bias = draw.coin();
    a.strides = a.padding = a.dilation = {};
    Shape x{draw(1, 2), a.groups * group};
    for (int d = 0; d < 2; ++d) {
      const i64 k = draw(1, 4), dilation = draw(1, 3), padding = draw(0, 3);
      a.kernel_size.push(k);
      a.dilation.push(dilation);
      a.padding.push(padding);
      a.strides.push(draw(1, 3));
      x.push(max(1, (k - 1) * dilation + 1 - 2 * padding) + draw(0, d == 0 ? 6 : 20));
    }
    std::vector<Type> in = {
        {x, 8}, {{a.channels, group, a.kernel_size[0], a.kernel_size[1]}, draw.precision(8)}};
    if (a.use_bias) in.push_back({{a.channels}, draw.precision(31)});
    const bool is_small = a.groups > 1 && group < 16 && a.channels / a.groups < 16;
    const TestCall layer = call_of<Conv2d>(a, in, draw);
    const TestCall product = dense(draw, draw(1, 150), draw(1, 500), draw(1, 150));
    EXPECT_EQ(judge_on_device(packs, layer, draw), is_small ? "conv2d_groups" : "conv2d_products");
    EXPECT_EQ(judge_on_device(packs, product, draw), "dense_products");
    for (const client::Backend& o : direct) {
      EXPECT_EQ(judge_on_device(o, layer, draw, Constants::weights),
          is_small ? "conv2d_groups" : "conv2d_direct");
      EXPECT_EQ(judge_on_device(o, product, draw, Constants::weights), "dense_direct");
    }
  }
}

TEST(Products, RunAsWhatIsFaster) {
  const client::Backend o = open_backend(132);
  const auto path = [&](const Shape& x, i64 channels) {
    Seeded draw(8);
    const TestCall c = conv2d(draw, x, channels, 1);
    client::Call put{"conv2d", client::attributes_of(*c.op, c.drawn.attributes()), {}, {}};
    std::vector<Placed> in;
    std::vector<OnDevice> from;
    for (const reference::Tensor& t : c.in) {
      put.in.push_back(in.emplace_back(t, draw).view(false));
      put.in.back().constant = from.emplace_back(o, in.back()).data();
    }
    const client::TensorType type = o.infer(put, 1).value()[0];
    Placed y({{{x[0], channels, x[2], x[3]}, type.precision}, {}}, draw);
    put.out = {y.view(false)};
    return o.prepare(put).value().path();
  };
  EXPECT_EQ(path({1, 64, 14, 14}, 64), "conv2d_direct");
  EXPECT_EQ(path({2, 64, 112, 112}, 256), "conv2d_products");
}

// Threads count the words of X in 32 bits, from the first one to the last one.
TEST(Products, ReadInOneLaunchWhatTheirThreadsCanCount) {
  const client::Backend o = open_backend(4, kDirect);
  Seeded draw(9);
  const TestCall c = conv2d(draw, {3, 6, 4, 5}, 8, 3);
  const Shape& shape = c.in[0].type.shape;
  Placed w(c.in[1], draw), b(c.in[2], draw);
  const OnDevice weights(o, w);
  const auto path = [&](const List<kMaxRank>& stride) {
    client::Call put{"conv2d", client::attributes_of(*c.op, c.drawn.attributes()), {}, {}};
    put.in = {{{shape.begin(), shape.end()}, {stride.begin(), stride.end()}, 8, nullptr},
        w.view(false), b.view(false)};
    put.in[1].constant = weights.data();
    const client::TensorType type = o.infer(put, 1).value()[0];
    Placed y({{{3, 8, 4, 5}, type.precision}, {}}, draw);
    put.out = {y.view(false)};
    return o.prepare(put).value().path();
  };
  for (int axis = 0; axis < 4; ++axis) {
    SCOPED_TRACE(axis);
    List<kMaxRank> stride{120, 20, 5, 1};
    i64 rest = 0;
    for (int d = 0; d < 4; ++d) rest += d == axis ? 0 : (shape[d] - 1) * stride[d];
    stride[axis] = ((i64{1} << 31) - 1 - rest) / (shape[axis] - 1);
    EXPECT_EQ(path(stride), "conv2d_direct");
    ++stride[axis];
    EXPECT_NE(path(stride), "conv2d_direct");
  }
}

// The deepest legal sums at 8 bits, with terms of one sign: beyond 2^24, near 2^30.
TEST(Products, AddWithoutLoss) {
  Seeded draw(5);
  for (const i32 sign : {1, -1}) {
    TestCall c = dense(draw, 3, 32'767, 2);
    for (i32& v : c.in[0].data) v = 127;
    for (i32& v : c.in[1].data) v = 127 * sign;
    EXPECT_EQ(judge_on_device(open_backend(4, kPacked), c, draw), "dense_products");
    EXPECT_EQ(
        judge_on_device(open_backend(4, kDirect), c, draw, Constants::weights), "dense_direct");
  }
}

TEST(Products, LeaveImagesOfPaddingToTheSpecification) {
  Seeded draw(6);
  const Conv2dAttrs a{.channels = 1,
      .kernel_size = {1, 1},
      .strides = {4096, 4096},
      .padding = {4096, 4096},
      .use_bias = false};
  const TestCall c = call_of<Conv2d>(a, {{{1, 1, 1, 1}, 8}, {{1, 1, 1, 1}, 8}}, draw);
  EXPECT_EQ(judge_on_device(open_backend(4, kPacked), c, draw), "generic");
  EXPECT_EQ(judge_on_device(open_backend(), c, draw, Constants::weights), "conv2d_direct");
}

}  // namespace
}  // namespace lockstep::cuda
