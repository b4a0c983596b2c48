// Compares every family of tuned kernels with the reference, in any layout and on both sides of
// every threshold, and watches what its blocks do to memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/plans.h"
#include "backends/cuda/tests/subject.h"
#include "spec/ops.h"

namespace lockstep::cuda {
namespace {

bool is_tuned(const OpInfo& op) {
  for (const backend::Kernel& k : all_kernels(true))
    if (k.op == op.name) return true;
  return false;
}

TEST(Families, MatchTheReferenceOnEveryDomain) {
  const client::Backend o = open_backend();
  for (const OpInfo* op : operators()) {
    SCOPED_TRACE(op->name);
    for (int seed = 0; seed < 120 && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Seeded draw(static_cast<uint64_t>(seed) << 32);
      Drawn drawn;
      op->domain(draw, drawn);
      const std::string path = judge_on_device(o, cpu::filled(*op, drawn, draw), draw);
      EXPECT_EQ(path != "generic", is_tuned(*op));
    }
  }
}

TEST(Families, ReadAndWriteEachElementOnceWhereThatIsEnough) {
  const client::Backend o = open_backend();
  Seeded draw(1);
  const TestCall copies[] = {call_of<Transpose>({.axes = {1, 0}}, {{{70, 45}, 8}}, draw),
      call_of<Transpose>({.axes = {0, 2, 3, 1}}, {{{2, 33, 5, 9}, 8}}, draw),
      call_of<Reshape>({.shape = {30, 14}}, {{{20, 21}, 8}}, draw),
      call_of<ElemwiseAdd>({}, {{{7, 9, 11}, 8}, {{7, 9, 11}, 8}}, draw),
      call_of<Sum>({.axis = {1}}, {{{9, 700}, 8}}, draw)};
  for (const TestCall& call : copies) {
    SCOPED_TRACE(call.op->name);
    Watch watch;
    Watch::current() = &watch;
    judge_on_device(o, call, draw);
    Watch::current() = nullptr;
    int64_t again = 0;
    for (const auto& [word, times] : watch.read) again += times != 1;
    EXPECT_EQ(again, 0) << "words are read more than once";
  }
}

TEST(Families, MoveFourElementsAtOnceWhereTheyLieTogether) {
  const client::Backend o = open_backend();
  Seeded draw(14);
  const struct {
    TestCall call;
    int64_t elements;  // that are read and stored
  } rows[] = {{call_of<Relu>({}, {{{4096}, 8}}, draw), 8192},
      {call_of<BroadcastAdd>({}, {{{8, 512}, 8}, {{512}, 8}}, draw), 12288},
      {call_of<Concatenate>({.axis = 0}, {{{1024}, 8}, {{2048}, 8}}, draw), 6144},
      {call_of<Max>({.axis = {0}}, {{{2, 2048}, 8}}, draw), 6144}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.call.op->name);
    Watch watch;
    Watch::current() = &watch;
    cpu::Least compact;
    judge_on_device(o, row.call, compact);
    Watch::current() = nullptr;
    EXPECT_EQ(watch.moves, row.elements / 4);
  }
}

TEST(Families, MoveThroughTilesOfAnyEdge) {
  Seeded draw(2);
  judge_watched(call_of<Transpose>({.axes = {1, 0}}, {{{65, 33}, 8}}, draw), "movement");
  judge_watched(call_of<Transpose>({.axes = {0, 2, 3, 1}}, {{{2, 8, 5, 7}, 8}}, draw), "movement");
  judge_watched(
      call_of<Transpose>({.axes = {3, 1, 0, 2}}, {{{9, 2, 31, 40}, 8}}, draw), "movement");
  judge_watched(call_of<Transpose>({.axes = {2, 1, 0}}, {{{7, 3, 7}, 8}}, draw), "movement");
  judge_watched(call_of<Concatenate>({.axis = 1}, {{{3, 8}, 8}, {{3, 1}, 8}, {{3, 20}, 8}}, draw),
      "movement");
  judge_watched(call_of<Upsampling>({.scale = 3}, {{{1, 2, 5, 6}, 8}}, draw), "movement");
  judge_watched(call_of<Reshape>({.shape = {6, 10}}, {{{4, 15}, 8}}, draw), "movement");
}

TEST(Families, CopyPortionsTogether) {
  Seeded draw(12);
  for (const int count : {2, 4, 5, 8}) {
    std::vector<Type> in;
    for (int k = 0; k < count; ++k) in.push_back({{3, 1 + k % 3, 400}, 8});
    judge_watched(call_of<Concatenate>({.axis = 1}, in, draw), "movement", 4, 6);
  }
}

TEST(Families, RepeatInGroups) {
  Seeded draw(11);
  for (const i64 scale : {2, 3, 6})
    for (const i64 width : {4, 6, 7})
      judge_watched(
          call_of<Upsampling>({.scale = scale}, {{{1, 2, 3, width}, 8}}, draw), "movement");
  judge_watched(
      call_of<Repeat>({.repeats = 3, .axis = 1}, {{{9, 4}, 8}}, draw), "movement", 4, 256);
}

TEST(Families, ComputeInGroupsOfAnyEdge) {
  Seeded draw(3);
  for (const i64 n : {1, 3, 4, 1023, 1024, 1025, 4099})
    judge_watched(call_of<Relu>({}, {{{n}, 32}}, draw), "elementwise");
  judge_watched(call_of<BroadcastAdd>({}, {{{5, 8, 12}, 8}, {{8, 1}, 8}}, draw), "elementwise");
  judge_watched(call_of<BroadcastMul>({}, {{{5, 1, 12}, 8}, {{8, 12}, 8}}, draw), "elementwise");
  judge_watched(call_of<Where>({}, {{{6}, 1}, {{6, 9}, 8}, {{6, 9}, 8}}, draw), "elementwise");
}

TEST(Families, ReduceAlongAnyAxesInOneLaunchOrTwo) {
  Seeded draw(4);
  for (const int processors : {1, 64}) {
    judge_watched(call_of<Sum>({}, {{{40'000}, 8}}, draw), "reduction", processors);
    judge_watched(call_of<Sum>({.axis = {0}}, {{{10'000, 5}, 8}}, draw), "reduction", processors);
    judge_watched(call_of<Max>({.axis = {0}}, {{{300, 70}, 8}}, draw), "reduction", processors);
    judge_watched(call_of<Max>({.axis = {1}}, {{{3, 9000}, 32}}, draw), "reduction", processors);
    judge_watched(
        call_of<Sum>({.axis = {0, 2}}, {{{90, 3, 100}, 8}}, draw), "reduction", processors);
    judge_watched(call_of<Sum>({.axis = {1}, .keepdims = true}, {{{2, 5000, 3}, 8}}, draw),
        "reduction", processors);
  }
}

TEST(Families, DivideAndCountBitsAsTheSpecificationDoes) {
  std::vector<i32> values = {INT32_MIN, INT32_MIN + 1, INT32_MAX, 0};
  for (int b = 0; b < 31; ++b)
    for (const i32 off : {-1, 0, 1})
      for (const i32 sign : {-1, 1}) values.push_back(multiply(sign, add(i32{1} << b, off)));
  const auto expected = []<class Op, std::size_t n>(const Op&, const Element(&in)[n]) {
    return static_cast<i32>(value_at<Op>({}, in, Index{}, Type{}));
  };
  for (const i32 a : values) {
    const Element one[] = {{a}};
    EXPECT_EQ(computed<CvmPrecision>({}, one), expected(CvmPrecision{}, one)) << a;
    for (const i32 b : values) {
      const Element two[] = {{a}, {b}};
      EXPECT_EQ(computed<BroadcastDiv>({}, two), expected(BroadcastDiv{}, two)) << a << " by " << b;
    }
  }
}

TEST(Families, ReduceGroupsOfFour) {
  Seeded draw(8);
  judge_watched(call_of<Max>({.axis = {1}}, {{{40, 72}, 8}}, draw), "reduction");
  judge_watched(call_of<Sum>({.axis = {1}}, {{{3, 70, 44}, 8}}, draw), "reduction");
  judge_watched(call_of<Sum>({.axis = {0, 2}}, {{{7, 3, 12}, 8}}, draw), "reduction");
  judge_watched(call_of<Sum>({.axis = {0}}, {{{20'000, 4}, 8}}, draw), "reduction", 64);
}

TEST(Families, ReduceShortRows) {
  Seeded draw(10);
  for (const i64 length : {3, 7, 49, 51, 199, 201})
    for (const i64 rows : {31, 70, 515})
      judge_watched(call_of<Max>({.axis = {1}}, {{{rows, length}, 8}}, draw), "reduction",
          rows == 70 ? 2 : 4, 6);
  judge_watched(call_of<Sum>({.axis = {2, 3}}, {{{2, 60, 7, 7}, 8}}, draw), "reduction");
}

TEST(Families, PoolSquareWindows) {
  Seeded draw(9);
  for (const i64 size : {1, 2, 3, 4, 5})
    for (const i64 stride : {1, 2})
      judge_watched(call_of<MaxPool2d>({.pool_size = {size, size},
                                           .strides = {stride, stride},
                                           .padding = {size / 2, size - 1}},
                        {{{2, 3, 7, 10}, 8}}, draw),
          "pooling", 4, 4);
  for (const i64 size : {2, 3})
    judge_watched(
        call_of<MaxPool2d>(
            {.pool_size = {size, size}, .strides = {2, 2}, .padding = {size - 1, size - 2}},
            {{{2, 5, 9, 24}, 8}}, draw),
        "pooling");
}

TEST(Families, GatherRowsAndElements) {
  Seeded draw(5);
  judge_watched(call_of<Take>({.axis = 0}, {{{9, 20}, 8}, {{30}, 5}}, draw), "gather");
  judge_watched(call_of<Take>({.axis = 0}, {{{10, 7}, 8}, {{30}, 5}}, draw), "gather");
  judge_watched(call_of<Take>({.axis = 1}, {{{9, 20}, 8}, {{4, 5}, 6}}, draw), "gather");
  judge_watched(call_of<Take>({}, {{{9, 20}, 8}, {{300}, 9}}, draw), "gather");
  judge_watched(call_of<CvmLut>({.in_dim = 256}, {{{7, 33}, 9}, {{16, 16}, 8}}, draw), "gather");
  judge_watched(call_of<MaxPool2d>({.pool_size = {3, 2}, .strides = {2, 1}, .padding = {1, 1}},
                    {{{2, 3, 9, 20}, 8}}, draw),
      "pooling");
}

// Upright boxes with few places and scores, so that many overlap and many scores are equal.
void draw_boxes(std::vector<i32>& x, Draw& draw) {
  const auto any = [&](i64 least, i64 most) { return static_cast<i32>(draw(least, most)); };
  for (std::size_t k = 0; k < x.size(); k += 6) {
    const i32 left = 8 * any(0, 20), top = 8 * any(0, 20);
    const i32 box[] = {any(-1, 1), any(-9, 99), left, top, left + any(8, 20), top + any(8, 20)};
    std::copy_n(box, 6, x.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

// More rows than a block counts at a time, and words of bits of which the last one is not full.
TEST(Families, ChooseRowsOfBoxes) {
  Seeded draw(6);
  for (const i64 rows : {1, 31, 33, 255, 600}) {
    const Type boxes{{2, rows, 6}, 9};
    judge_watched(call_of<GetValidCounts>({.score_threshold = -3}, {boxes}, draw), "detection");
    TestCall few = call_of<NonMaxSuppression>({.iou_threshold = 30}, {boxes, {{2}, 16}}, draw);
    draw_boxes(few.in[0].data, draw);
    for (i32& v : few.in[1].data) v = static_cast<i32>(draw(rows / 2, rows));
    judge_watched(few, "detection");
    TestCall limited = call_of<NonMaxSuppression>({.iou_threshold = 60,
                                                      .max_output_size = rows / 3,
                                                      .force_suppress = true,
                                                      .top_k = rows / 2},
        {boxes, {{2}, 16}}, draw);
    draw_boxes(limited.in[0].data, draw);
    for (i32& v : limited.in[1].data) v = static_cast<i32>(rows);
    judge_watched(limited, "detection");
  }
}

// So many that a block selects among more rows than it has threads.
TEST(Families, SelectAmongManyRows) {
  Seeded draw(13);
  for (const i64 threshold : {-90, 0, 126, 127})
    judge_watched(
        call_of<GetValidCounts>({.score_threshold = threshold}, {{{1, 64 * 256 + 1, 3}, 8}}, draw),
        "detection", 4, 1);
}

TEST(Families, LeaveMoreRowsThanTheirBitsHaveRoomForToTheSpecification) {
  Seeded draw(7);
  for (const i64 top_k : {-1, 1})
    EXPECT_EQ(
        judge_on_device(open_backend(),
            call_of<NonMaxSuppression>({.top_k = top_k}, {{{1, 65'537, 6}, 8}, {{1}, 1}}, draw),
            draw),
        top_k < 0 ? "generic" : "detection");
}

}  // namespace
}  // namespace lockstep::cuda
