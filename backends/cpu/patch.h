/// @file
/// The part of an image that a block of conv2d's outputs reads, packed so that every tap of the
/// kernel is one constant offset away from the output's own cell.
#pragma once
#include <vector>

#include "backends/cpu/pack.h"
#include "spec/op.h"

namespace lockstep::cpu {

/// One spatial axis of a convolution. Only cells that some tap can reach are packed: where stride
/// and dilation share a divisor, every `spacing`-th one.
struct Axis {
  i64 extent, outputs, taps, stride, padding;
  i64 spacing;   ///< source positions between two cells
  i64 step;      ///< cells between two outputs
  i64 dilation;  ///< cells between two taps

  /// Cells that `n` neighbouring outputs read.
  i64 cells(i64 n) const { return (n - 1) * step + (taps - 1) * dilation + 1; }
  /// Source position of a cell of the outputs from `first` on; outside the image it reads zero.
  i64 source(i64 first, i64 cell) const { return first * stride - padding + spacing * cell; }
};

Axis axis_of(i64 extent, i64 outputs, i64 taps, i64 stride, i64 padding, i64 dilation);

/// Two values that share a Pair: the same tap of two channels, or two taps of one channel.
struct Term {
  i64 channel, row, column;
  i64 next_channel, next_column;  ///< of the second value; next_channel < 0: there is none
};

/// Layout of a patch: groups of planes of rows. A row orders its cells by their index modulo the
/// step, so that neighbouring outputs read neighbouring cells for any stride.
class Patch {
 public:
  /// For `channels` input channels of a group, blocks of `rows` x `columns` outputs.
  Patch(const Axis& y, const Axis& x, i64 channels);

  /// Shrinks the block until a group takes at most `bytes`. @return whether that is possible
  bool shrink_to(i64 bytes);

  i64 rows() const { return rows_; }
  i64 columns() const { return columns_; }
  i64 planes() const { return planes_; }
  i64 lines() const { return y_.cells(rows_); }
  i64 line_pairs() const { return pitch_; }
  i64 group_pairs() const { return planes_ * plane_; }
  i64 group_bytes() const { return group_pairs() * static_cast<i64>(sizeof(Pair)); }

  /// The terms of a dot product, in the order in which weights are packed.
  std::vector<Term> terms() const;
  /// The offset of a term from an output's own cell.
  i64 offset(const Term& t) const;
  /// The own cell of the output at a row and column of the block.
  i64 cell(i64 row, i64 column) const { return row * y_.step * pitch_ + column; }

  /// Packs one line of one plane. `image` is channel 0 of the group, `row` and `column` the first
  /// output of the block.
  void pack_line(
      Pair* group, const View& x, const i32* image, i64 plane, i64 line, i64 row, i64 column) const;

 private:
  void lay_out();

  Axis y_, x_;
  i64 channels_;
  bool pairs_taps_;  // two taps of one channel share a Pair, else two channels
  i64 planes_;
  i64 rows_, columns_;
  i64 phase_ = 0, pitch_ = 0, plane_ = 0;
};

}  // namespace lockstep::cpu
