/// @file
/// The loop nest that all kernels for tensors of any layout share: axes of several tensors, sorted
/// by the output's memory and joined where they continue each other, cut into boxes.
#pragma once
#include <array>

#include "spec/op.h"

namespace lockstep::cpu {

inline constexpr int kLoopAxesMax = 2 * kMaxRank;  ///< repetitions have axes of their own
inline constexpr int kLoopTensorsMax = 6;          ///< an output and inputs

/// A value for each tensor of a nest; that of the output is the first.
using PerTensor = std::array<i64, kLoopTensorsMax>;

/// One loop: how often, and by how many elements each tensor moves. A stride of 0 repeats.
struct LoopAxis {
  i64 extent;
  PerTensor stride;
};

/// A part of a nest: where it begins in each tensor, and its extents.
struct LoopBox {
  PerTensor offset{};
  std::array<i64, kLoopAxesMax> extent{};
};

/// Loops over an output, each element of which is visited once, and inputs. The last axis is the
/// innermost.
class Loops {
 public:
  explicit Loops(int tensors) : tensors_(tensors) {}

  /// Adds an axis, whatever its place.
  void add(i64 extent, const PerTensor& stride);
  /// Sorts the axes by the stride of the output and joins those that all tensors continue.
  void join();

  int rank() const { return rank_; }
  int tensors() const { return tensors_; }
  i64 volume() const;
  const LoopAxis& operator[](int d) const { return axis_[static_cast<std::size_t>(d)]; }

  /// Whether a tensor's elements of a box lie one after the other, in the order of the axes.
  bool is_compact(const LoopBox& box, int tensor) const;
  /// Whether all iterations read the same element of a tensor.
  bool is_constant(int tensor) const;
  /// Whether an element of a tensor lies as far from its first one as the output's element does.
  bool moves_as_output(int tensor) const;

  /// Chooses boxes of at most `elements`. In each tensor that the first cache does not keep, a box
  /// reaches along the axes of the smallest strides, so that it uses several cache lines in a row,
  /// or at least one.
  void cut(i64 elements);
  /// The same for tensors whose rows are read where they lie: whole rows come first.
  void cut_rows(i64 elements);
  i64 boxes() const;
  /// The most elements of a box.
  i64 box_volume() const;
  /// Calls f(box) for the boxes begin .. end - 1, of which each is another part of the nest.
  template <class F> void visit(i64 begin, i64 end, const F& f) const {
    for (i64 b = begin; b < end; ++b) f(box(b));
  }
  /// Calls f(offsets) for each plane of a box, that is for each position on all axes but the last
  /// two.
  template <class F> void planes(const LoopBox& box, const F& f) const {
    std::array<i64, kLoopAxesMax> position{};
    PerTensor at = box.offset;
    for (int d = 0; d >= 0;) {
      f(at);
      for (d = rank_ - 3; d >= 0; --d) {
        const auto k = static_cast<std::size_t>(d);
        const bool goes_on = ++position[k] < box.extent[k];
        const i64 steps = goes_on ? 1 : 1 - position[k];
        for (std::size_t t = 0; t < kLoopTensorsMax; ++t) at[t] += steps * axis_[k].stride[t];
        if (goes_on) break;
        position[k] = 0;
      }
    }
  }

 private:
  LoopBox box(i64 number) const;
  bool is_large(int tensor) const;
  bool reach(int tensor, i64 run, i64 elements);
  void grow(i64 elements);

  int tensors_, rank_ = 0;
  std::array<LoopAxis, kLoopAxesMax> axis_{};
  std::array<i64, kLoopAxesMax> cut_{};
};

}  // namespace lockstep::cpu
