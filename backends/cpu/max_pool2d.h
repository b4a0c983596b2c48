/// @file
/// The inner loops of max_pool2d, for every instruction set, and its plans in compiled graphs.
#pragma once
#include <memory>

#include "backends/cpu/kernels.h"
#include "spec/arithmetic.h"

namespace lockstep::cpu {

/// `count` times `rows` rows of n maxima, each of `taps` elements `tap` apart, and how far apart
/// the rows and their sources are.
struct MaxRows {
  i64 n, taps, tap;
  i64 rows, to_row, from_row;
  i64 count, to_outer, from_outer;
};

/// Rows of n maxima that follow each other. Maximum i of a row is the largest of `taps` elements
/// `tap` apart, from i * step on.
struct Slide {
  i64 n, step, taps, tap;
  i64 rows, from_row;
};

/// `count` times `rows` rows of n maxima of windows that lie in the image: `lines` lines, `line`
/// apart, of `width` elements, `cell` apart. Windows of a row are `step` apart.
struct SmallWindows {
  i64 n, step, width, cell, lines, line;
  i64 rows, to_row, from_row;
  i64 count, to_outer, from_outer;
  /// If positive: before each row the maximum of as many columns, from `edge_start` before the row.
  i64 edge = 0, edge_start = 0;
};

/// The functions of one instruction set.
struct PoolLoops {
  /// Touches no other elements.
  void (*max_rows)(const MaxRows& m, i32* to, const i32* from);
  /// For steps of 1, and of 2 with windows of 2 to 4 neighbours. Touches no other elements.
  void (*small_windows)(const SmallWindows& w, i32* to, const i32* from);
  /// May read and write kPoolSlack elements beyond the last of each.
  void (*slide)(const Slide& s, i32* to, const i32* from);
  /// at[i] = max(at[i], at[i + step]), i < n, in this order: a window of twice the length. May use
  /// kPoolSlack elements beyond.
  void (*widen)(i32* at, i64 n, i64 step);
};

inline constexpr i64 kPoolSlack = 128;

/// The loops of the best instruction set that is no better than `most` and has them.
PoolLoops pool_loops(const Isa& most);

/// The plan of a call whose input and output lie as cells, or nullptr if no loops serve it.
std::unique_ptr<Plan> cell_pooling(const Arguments& a);

/// The plan of a call whose input and output lie as pixels.
std::unique_ptr<Plan> pixel_pooling(const Arguments& a);

}  // namespace lockstep::cpu
