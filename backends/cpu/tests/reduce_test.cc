// Reductions and pooling on every instruction set, at and beside every edge of their blocks.
#include <gtest/gtest.h>

#include "backends/cpu/tests/modes.h"
#include "spec/ops/max.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/sum.h"

namespace lockstep::cpu {
namespace {

class Reductions : public InEachMode {
 protected:
  // Runs a call on the kernel of its operator, in a layout that `draw` chooses.
  void judge_tuned(const TestCall& call, Draw& draw) const {
    EXPECT_EQ(judge(backend, call, draw), GetParam().path(call.op->name));
  }
};

std::vector<Mode> tuned_modes() {
  std::vector<Mode> all = modes();
  std::erase_if(all, [](const Mode& m) { return m.isa.empty(); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Modes, Reductions, testing::ValuesIn(tuned_modes()),
    [](const auto& p) { return name_of(p.param); });

template <class Op>
TestCall call_on(const typename Op::Attrs& attrs, const Shape& x, int precision, Draw& draw) {
  return call_of<Op>(attrs, {{x, precision}}, draw);
}

// Any axes of any shape: short and long ones, inside and outside each other.
template <class Op> TestCall drawn_reduction(Draw& draw) {
  ReduceAttrs a;
  a.keepdims = draw.coin();
  Shape x;
  i64 room = 20'000;
  for (i64 rank = draw(1, 5); x.size < rank;) {
    const i64 most = draw(0, 2) == 0 ? 300 : draw.coin() ? 20 : 4;
    x.push(draw(1, min(most, room)));
    room /= x[x.size - 1];
    if (draw.coin()) a.axis.push(x.size - 1);
  }
  return call_on<Op>(a, x, draw.precision(17), draw);
}

TEST_P(Reductions, ReduceAnyAxes) {
  for (uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    judge_tuned(drawn_reduction<Sum>(draw), draw);
    judge_tuned(drawn_reduction<Max>(draw), draw);
  }
}

// Rows of each extent beside the width of a vector, in rows and in columns.
TEST_P(Reductions, ReduceRowsOfAnyExtent) {
  Seeded draw(1);
  for (i64 n = 1; n <= 70 && !HasFailure(); ++n)
    for (const i64 axis : {0, 1}) {
      SCOPED_TRACE("extent " + std::to_string(n) + ", axis " + std::to_string(axis));
      const Shape x = axis == 0 ? Shape{13, n} : Shape{13, n, 1};
      judge_tuned(call_on<Sum>({.axis = {axis}}, x, 8, draw), draw);
      judge_tuned(call_on<Max>({.axis = {axis}}, x, 32, draw), draw);
    }
}

// Sums of one sign up to the last bit, so that a lost carry or a float shows.
TEST_P(Reductions, AddUpToTheLastBit) {
  Seeded draw(2);
  for (const i32 sign : {1, -1})
    for (const int precision : {31, 24, 15}) {
      const i64 most = max_of(33 - precision);  // elements; their sum needs 32 bits
      TestCall rows = call_on<Sum>({.axis = {1}}, {2, most}, precision, draw),
               columns = call_on<Sum>({.axis = {0}}, {most, 2}, precision, draw);
      for (TestCall* c : {&rows, &columns}) {
        for (i32& v : c->in[0].data) v = static_cast<i32>(sign * max_of(precision));
        judge_tuned(*c, draw);
      }
    }
}

// A maximum of the smallest values, where an accumulator that begins as 0 would win.
TEST_P(Reductions, KeepTheSmallestMaximum) {
  Seeded draw(3);
  TestCall all = call_on<Max>({}, {9, 50}, 32, draw),
           window =
               call_on<MaxPool2d>({.pool_size = {3, 3}, .padding = {1}}, {2, 2, 5, 40}, 32, draw);
  for (TestCall* c : {&all, &window}) {
    std::fill(c->in[0].data.begin(), c->in[0].data.end(), static_cast<i32>(-kIntMax));
    judge_tuned(*c, draw);
  }
}

// Few outputs from so much input that threads share it, and many outputs in several blocks.
TEST_P(Reductions, CutWhatIsLarge) {
  Seeded draw(4);
  for (int layout = 0; layout < 3; ++layout) {
    judge_tuned(call_on<Sum>({}, {301, 997}, 8, draw), draw);
    judge_tuned(call_on<Max>({.axis = {0}}, {70'001, 5}, 32, draw), draw);
    judge_tuned(call_on<Sum>({.axis = {0, 2}}, {90, 3, 1200}, 8, draw), draw);
    judge_tuned(call_on<Sum>({.axis = {1}}, {2, 3, 50'003}, 20, draw), draw);
    judge_tuned(call_on<Max>({.axis = {1}}, {60'000, 5}, 32, draw), draw);
  }
}

// A window that may be larger than a vector, in an image that may be smaller.
TestCall drawn_pooling(Draw& draw) {
  MaxPool2dAttrs a{.strides = {}, .padding = {}};
  Shape x{draw(1, 3), draw(1, draw.coin() ? 3 : 20)};
  const i64 most = draw(0, 3) == 0 ? 40 : 5;
  for (int d = 0; d < 2; ++d) {
    const i64 k = draw(1, most), p = draw(0, k - 1);
    a.pool_size.push(k);
    a.padding.push(p);
    a.strides.push(draw(1, 6));
    x.push(max(1, k - 2 * p) + draw(0, draw.coin() ? 40 : 8));
  }
  return call_on<MaxPool2d>(a, x, draw.precision(32), draw);
}

bool exceeds_image(const TestCall& c) {
  const Tuple& window = c.drawn.attrs[0].ints;
  const Shape& x = c.in[0].type.shape;
  return window[0] > x[2] || window[1] > x[3];
}

// So small an image may allow less scratch memory than its padding would take.
TEST_P(Reductions, PoolAnyWindows) {
  int generic = 0;
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    const TestCall c = drawn_pooling(draw);
    const std::string path = judge(backend, c, draw);
    if (path == "generic" && exceeds_image(c))
      ++generic;
    else
      EXPECT_EQ(path, GetParam().path(c.op->name));
  }
  EXPECT_LE(generic, 5);
}

// Images of several blocks in every direction, in several layouts.
TEST_P(Reductions, CutLargeImages) {
  Seeded draw(5);
  const auto pool = [&](const Shape& x, i64 k, i64 stride, i64 padding) {
    const MaxPool2dAttrs a{
        .pool_size = {k, k}, .strides = {stride, stride}, .padding = {padding, padding}};
    judge_tuned(call_on<MaxPool2d>(a, x, 32, draw), draw);
  };
  for (int layout = 0; layout < 4; ++layout) {
    pool({3, 40, 33, 35}, 3, 2, 1);
    pool({1, 1, 6, 9001}, 5, 1, 2);
    pool({1, 300, 9, 8}, 6, 3, 0);
    pool({1, 2, 150, 90}, 33, 1, 16);
    pool({1, 3, 200, 60}, 60, 7, 0);
  }
}

/// Chooses images whose channels are neighbours in memory, with gaps along all other axes.
struct ChannelsLast : Draw {
  i64 operator()(i64 lo, i64 hi) override { return clamp(1, lo, hi); }
};

// The last block of channels holds a single channel.
TEST_P(Reductions, PoolAChannelThatIsLeftOver) {
  Seeded draw(7);
  ChannelsLast last;
  constexpr i64 kChannels = 127 * 128 + 1;
  for (const i64 k : {2, 5})
    for (const i64 stride : {1, 2}) {
      const MaxPool2dAttrs a{.pool_size = {k, k}, .strides = {stride, stride}, .padding = {1, 1}};
      TestCall c = call_on<MaxPool2d>(a, {1, kChannels, 6, 5}, 32, draw);
      for (i32& v : c.in[0].data) v = static_cast<i32>(draw(-kIntMax, kIntMax));
      judge_tuned(c, last);
    }
}

// The kernel leaves a window with more elements than a part of the image may have to the
// specification.
TEST_P(Reductions, LeaveHugeWindowsToTheSpecification) {
  Seeded draw(6);
  const i64 wide = (i64{1} << 21) + 9;
  const TestCall c = call_on<MaxPool2d>({.pool_size = {1, wide}}, {1, 1, 1, wide}, 8, draw);
  EXPECT_EQ(judge(backend, c, draw), "generic");
}

}  // namespace
}  // namespace lockstep::cpu
