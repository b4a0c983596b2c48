/// @file
/// Copies boxes between layouts: the operators that only move elements are made of it, and other
/// kernels bring tensors of any layout into the order they need.
#pragma once
#include <array>

#include "backends/cpu/isa.h"
#include "backends/cpu/loops.h"

namespace lockstep::cpu {

/// A box of elements in two layouts. The last axis is the innermost of the target.
struct Move {
  int rank = 0;
  std::array<i64, kLoopAxesMax> extent{}, to{}, from{};  ///< strides in elements

  /// Adds an axis inside the others, joined with the last one if it continues there.
  void add(i64 n, i64 to_stride, i64 from_stride) {
    if (n == 1) return;
    auto at = static_cast<std::size_t>(rank);
    if (rank > 0 && to[at - 1] == to_stride * n && from[at - 1] == from_stride * n)
      n *= extent[--at];
    extent[at] = n;
    to[at] = to_stride;
    from[at] = from_stride;
    rank = static_cast<int>(at) + 1;
  }
};

/// Copies a box, of which `to` and `from` are the first elements. With `stream`, whole rows bypass
/// the caches.
using MoveBox = void (*)(const Move& box, i32* to, const i32* from, bool stream);

/// The function of the best instruction set that is no better than `most` and has one.
MoveBox move_box(const Isa& most);

/// Copies boxes begin .. end - 1 of a nest of a target and a source.
inline void move_boxes(
    const Loops& loops, i64 begin, i64 end, i32* to, const i32* from, MoveBox move, bool stream) {
  Move m;
  m.rank = loops.rank();
  for (int d = 0; d < m.rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    m.to[at] = loops[d].stride[0];
    m.from[at] = loops[d].stride[1];
  }
  loops.visit(begin, end, [&](const LoopBox& b) {
    m.extent = b.extent;
    move(m, to + b.offset[0], from + b.offset[1], stream);
  });
}

/// Whether a call that writes so many elements had better let them bypass the caches. The reported
/// size of the last cache is no guide: it may be shared by a whole package.
inline bool leaves_caches(i64 elements) { return elements >= i64{2} << 20; }

}  // namespace lockstep::cpu
