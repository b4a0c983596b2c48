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
};

/// Copies a box, of which `to` and `from` are the first elements. With `stream`, whole rows bypass
/// the caches.
using MoveBox = void (*)(const Move& box, i32* to, const i32* from, bool stream);

/// The function of the best instruction set that is no better than `most` and has one.
MoveBox move_box(const Isa& most);

/// Whether a call that writes so many elements had better let them bypass the caches. What systems
/// say of the last cache is no help: it may be that of a whole package, in many parts.
inline bool leaves_caches(i64 elements) { return elements >= i64{2} << 20; }

}  // namespace lockstep::cpu
