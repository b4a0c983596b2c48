// The limits at which the operators that move elements begin to refuse.
#include <gtest/gtest.h>

#include "spec/tests/judged.h"

namespace lockstep {
namespace {

TEST(Upsampling, OutputsStayInsideTheLimits) {
  const i64 n = i64{1} << 12;
  EXPECT_EQ(output<Upsampling>({.scale = 3}, {{{1, 2, 4, 5}, 8}}), (Type{{1, 2, 12, 15}, 8}));
  EXPECT_EQ(label<Upsampling>({.scale = n}, {{{1, 1, 8, 8}, 8}}), "");
  EXPECT_EQ(label<Upsampling>({.scale = n}, {{{1, 1, 8, 9}, 8}}), "upsampling.shape");
  EXPECT_EQ(label<Upsampling>({.scale = n}, {{{1, 1, 1, n + 1}, 8}}), "upsampling.shape");
  EXPECT_EQ(label<Upsampling>({.scale = n + 1}, {{{1, 1, 1, 1}, 8}}), "attr.range");
}

TEST(Repeat, AxisThenShape) {
  EXPECT_EQ(output<Repeat>({.repeats = 3, .axis = -2}, {{{2, 5}, 8}}), (Type{{6, 5}, 8}));
  EXPECT_EQ(label<Repeat>({.repeats = kMaxExtent}, {{{1, 64}, 8}}), "");
  EXPECT_EQ(label<Repeat>({.repeats = kMaxExtent}, {{{1, 65}, 8}}), "repeat.shape");
  EXPECT_EQ(label<Repeat>({.repeats = kMaxExtent}, {{{2}, 8}}), "repeat.shape");
  EXPECT_EQ(label<Repeat>({.repeats = kMaxExtent, .axis = 1}, {{{2}, 8}}), "repeat.axis");
  EXPECT_EQ(label<Repeat>({.repeats = 1, .axis = INT64_MIN}, {{{2}, 8}}), "repeat.axis");
}

TEST(Tile, RepsAlignFromTheRight) {
  EXPECT_EQ(output<Tile>({.reps = {2, 3}}, {{{5, 7, 4}, 8}}).shape, (Shape{5, 14, 12}));
  EXPECT_EQ(output<Tile>({.reps = {2, 3, 4}}, {{{5}, 8}}).shape, (Shape{2, 3, 20}));
  const Tuple ones = Tuple::filled(6, 1), seven = Tuple::filled(7, 1);
  EXPECT_EQ(label<Tile>({.reps = ones}, {{{5}, 8}}), "");
  EXPECT_EQ(label<Tile>({.reps = seven}, {{{5}, 8}}), "tile.shape");
  EXPECT_EQ(label<Tile>({.reps = Tuple::filled(16, 1)}, {{{5}, 8}}), "tile.shape");
  EXPECT_EQ(label<Tile>({.reps = {}}, {{{5}, 8}}), "attr.length");
  EXPECT_EQ(label<Tile>({.reps = {4096}}, {{{4096}, 8}}), "");
  EXPECT_EQ(label<Tile>({.reps = {4096}}, {{{4097}, 8}}), "tile.shape");
}

TEST(Transpose, LengthThenRangeThenRepetition) {
  EXPECT_EQ(output<Transpose>({}, {{{2, 3, 5}, 8}}).shape, (Shape{5, 3, 2}));
  EXPECT_EQ(output<Transpose>({.axes = {1, 2, 0}}, {{{2, 3, 5}, 8}}).shape, (Shape{3, 5, 2}));
  EXPECT_EQ(label<Transpose>({.axes = {0, 9}}, {{{2, 3, 5}, 8}}), "transpose.axes");
  EXPECT_EQ(label<Transpose>({.axes = {0, 0, 3}}, {{{2, 3, 5}, 8}}), "transpose.axis");
  EXPECT_EQ(label<Transpose>({.axes = {0, 1, -3}}, {{{2, 3, 5}, 8}}), "transpose.axis_twice");
  EXPECT_EQ(label<Transpose>({.axes = {0, -1, -2}}, {{{2, 3, 5}, 8}}), "");
}

TEST(SliceLike, RanksThenAxisThenExtents) {
  const Type x{{4, 5}, 8};
  EXPECT_EQ(output<SliceLike>({.axis = {1}}, {x, {{9, 2}, 8}}).shape, (Shape{4, 2}));
  EXPECT_EQ(label<SliceLike>({}, {x, {{4, 5}, 8}}), "");
  EXPECT_EQ(label<SliceLike>({}, {x, {{4}, 8}}), "slice_like.ranks");
  EXPECT_EQ(label<SliceLike>({.axis = {0}}, {x, {{4}, 8}}), "");
  EXPECT_EQ(label<SliceLike>({.axis = {1}}, {x, {{4}, 8}}), "slice_like.axis");
  EXPECT_EQ(label<SliceLike>({.axis = {-1}}, {x, {{4}, 8}}), "slice_like.axis");
  EXPECT_EQ(label<SliceLike>({.axis = {2}}, {x, {{4, 5, 6}, 8}}), "slice_like.axis");
  EXPECT_EQ(label<SliceLike>({.axis = {-3}}, {x, {{4, 5, 6}, 8}}), "slice_like.axis");
  EXPECT_EQ(label<SliceLike>({.axis = {0}}, {x, {{5, 5}, 8}}), "slice_like.extents");
  EXPECT_EQ(label<SliceLike>({.axis = {1, -1}}, {x, {{5, 5}, 8}}), "");
}

TEST(ExpandDims, AxisThenRank) {
  const auto inserted = [](i64 axis, i64 count) {
    return label<ExpandDims>({.axis = axis, .num_newaxis = count}, {{{2, 3}, 8}});
  };
  EXPECT_EQ(output<ExpandDims>({.axis = -2}, {{{2, 3}, 8}}).shape, (Shape{2, 1, 3}));
  EXPECT_EQ(inserted(2, 4), "");
  EXPECT_EQ(inserted(3, 4), "expand_dims.axis");
  EXPECT_EQ(inserted(-3, 4), "");
  EXPECT_EQ(inserted(-4, 5), "expand_dims.axis");
  EXPECT_EQ(inserted(2, 5), "expand_dims.shape");
  EXPECT_EQ(inserted(0, 4096), "expand_dims.shape");
  EXPECT_EQ(inserted(0, 4097), "attr.range");
}

TEST(Squeeze, AxisThenExtent) {
  EXPECT_EQ(output<Squeeze>({.axis = {-1}}, {{{1, 2, 1}, 8}}).shape, (Shape{1, 2}));
  EXPECT_EQ(output<Squeeze>({}, {{{1, 1}, 8}}).shape, (Shape{1}));
  EXPECT_EQ(output<Squeeze>({.axis = {0, 1}}, {{{1, 1}, 8}}).shape, (Shape{1}));
  EXPECT_EQ(output<Squeeze>({}, {{{2, 3}, 8}}).shape, (Shape{2, 3}));
  EXPECT_EQ(label<Squeeze>({.axis = {0, 0}}, {{{1, 2}, 8}}), "");
  EXPECT_EQ(label<Squeeze>({.axis = {1, 2}}, {{{1, 2}, 8}}), "squeeze.axis");
  EXPECT_EQ(label<Squeeze>({.axis = {1}}, {{{1, 2}, 8}}), "squeeze.extent");
}

}  // namespace
}  // namespace lockstep
