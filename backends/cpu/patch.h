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
  i64 extent, outputs, taps, stride, padding, dilation;
  i64 spacing;  ///< source positions between two cells
  i64 step;     ///< cells between two outputs
  i64 reach;    ///< cells between two taps

  /// Cells that `n` neighbouring outputs read.
  i64 cells(i64 n) const { return (n - 1) * step + (taps - 1) * reach + 1; }
  /// Source position of a cell of the outputs from `first` on; outside the image it reads zero.
  i64 source(i64 first, i64 cell) const { return first * stride - padding + spacing * cell; }
};

Axis axis_of(i64 extent, i64 outputs, i64 taps, i64 stride, i64 padding, i64 dilation);

/// The values that share a cell: one tap of several channels, or several taps of one channel, of
/// which this is the first.
struct Step {
  i64 channel, row, column, terms;
};

/// Layout of a patch: planes of cells. A plane orders its lines by their index modulo the step of
/// the outputs, and a line its cells likewise. For any stride, neighbouring outputs thus read
/// neighbouring cells, and the lines of neighbouring outputs follow each other.
class Patch {
 public:
  /// For `channels` input channels of a tensor of integers, or of cells.
  Patch(const Axis& y, const Axis& x, i64 channels, const DotKernels& dot, bool reads_cells);

  /// Lets the patch be the image itself: one line of cells, in planes of so many words.
  void read_in_place(i64 plane) { plane_ = plane; }

  /// Shrinks the block until the patch takes at most `bytes`. @return whether that is possible
  bool shrink_to(i64 bytes);

  i64 rows() const { return rows_; }
  i64 columns() const { return columns_; }
  i64 planes() const { return planes_; }
  i64 lines() const { return y_.step * phase_lines_; }  ///< of a plane
  i64 line_cells() const { return x_.step * pitch_; }
  /// The distance in cells between two outputs below each other.
  i64 pitch() const { return pitch_; }
  i64 words() const { return planes_ * plane_; }
  i64 bytes() const { return words() * static_cast<i64>(sizeof(Word)); }

  /// The steps of a dot product, in the order in which weights are packed.
  std::vector<Step> steps() const;
  /// How many steps a chunk of a block has: those of as many planes where that leaves few Words
  /// unused, because the cells of these steps are equally far apart.
  i64 chunk_steps() const;
  /// The axis of the weights along which the terms of a step lie.
  int term_axis() const { return joins_taps_ ? 3 : 1; }
  /// From an output's own cell to that of a step, in bytes.
  i64 offset(const Step& s) const;

  /// Packs the lines first .. last - 1 of a plane. `image` is channel or plane 0 of the group,
  /// `row` and `column` the first output of the block.
  void pack_lines(Word* patch, const View& x, const i32* image, i64 plane, i64 first, i64 last,
      i64 row, i64 column) const;

 private:
  /// The cells of a line that one of its phases holds: cell k reads from source position `left` +
  /// k * stride on, and those of begin .. end - 1 lie in the image with all of their terms.
  struct Cells {
    i64 left, begin, end, terms;
  };

  void lay_out();
  i64 shared_padding() const;
  void fill(Word* to, i64 cells) const;  // with zeros
  void pack(Word* to, const i32* from, const Terms& t) const;
  void copy_cells(Word* to, const i32* from, const Terms& t) const;
  void pack_inside(Word* to, const View& x, const i32* from, const Cells& c, i64 lines) const;
  void pack_edge(
      Word* to, const View& x, const i32* from, const Cells& c, i64 cell, i64 lines) const;

  const DotKernels& dot_;
  Word zeros_;  // a cell of zeros
  i64 channels_;
  bool reads_cells_,
      joins_taps_;  // several taps of one channel share a cell, else several channels
  i64 taps_, tap_dilation_;
  Axis y_, x_;  // x_ counts groups of taps if they share cells
  i64 planes_;
  i64 rows_, columns_;
  i64 phase_lines_ = 0, pitch_ = 0, shared_ = 0, plane_ = 0;
};

}  // namespace lockstep::cpu
