/// @file
/// What conv2d and dense share: tiles for any layout of the output, and their kernels.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/dot.h"
#include "backends/cpu/kernels.h"
#include "spec/arithmetic.h"

namespace lockstep::cpu {

/// The approximate time to pack an element.
inline constexpr double kPackNs = 0.2;

/// The sum of two values of a legal call. Unsigned arithmetic avoids undefined behaviour for a
/// value beyond its declared precision.
inline i32 add(i32 a, i32 b) {
  return static_cast<i32>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// The size of the parts, none larger than `most`, that divide n most evenly.
inline i64 even_part(i64 n, i64 most) { return ceil_div(n, ceil_div(n, most)); }

/// The approximate time of a thread to add `terms` products for each of some outputs, and to finish
/// and store them.
inline double dot_ns(const DotKernels& dot, i64 outputs, i64 terms) {
  constexpr i64 kFinishTerms = 24;  // that take as long as storing an output
  return static_cast<double>(outputs * (terms + kFinishTerms)) / dot.macs_per_ns;
}

inline constexpr i64 kWeightBytes = i64{1} << 18;  ///< of weights that stay cached for some slots

/// How many outputs, with so many bytes of weights each, an item of parallel work computes: a
/// multiple of `step` or all, no more than stay cached but for a first step, and fewer where a loop
/// with `items` for all outputs would let threads wait for each other.
inline i64 outputs_of_item(i64 outputs, i64 step, i64 bytes, i64 items, const ThreadPool& pool) {
  const i64 parts = ceil_div(pool.items_that_balance(), items);
  const i64 steps = min(kWeightBytes / (bytes * step), ceil_div(outputs, step) / parts);
  return min(outputs, max(1, steps) * step);
}

/// The rows of a panel. For a block they fill whole halves, so that panels are aligned.
inline i64 panel_rows(i64 rows, const DotKernels& dot) {
  const i64 even = even_part(rows, dot.rows), half = dot.rows / 2;
  return dot.block ? ceil_div(even, half) * half : even;
}

/// The Words of a packed row of so many steps, which a block takes `depth` at a time.
inline i64 row_words(i64 steps, i64 depth, const DotKernels& dot) {
  return dot.block ? ceil_div(steps, depth) * kChunkSteps : steps;
}

/// Whether a block takes less time than tiles of vectors for a slot, by the cycles of the products,
/// of loading cells, and of storing sums.
bool is_block_better(i64 rows, i64 steps, i64 depth);

/// Memory for packed constants: aligned to cache lines, on large pages where it fills some.
class Packed {
 public:
  Packed() = default;
  explicit Packed(i64 bytes);
  bool empty() const { return !memory_; }
  uint8_t* data() const { return memory_.get(); }

 private:
  std::unique_ptr<uint8_t, decltype(&std::free)> memory_{nullptr, &std::free};
};

/// Images of at most 8 bits between two products of a compiled graph lie as cells, in the form that
/// tiles read. As many neighbouring channels as a step has terms share cells and make a plane.
/// Planes are an odd number of cache lines apart, because those a power of two apart compete for
/// few cache sets.
inline i64 plane_words(const Shape& shape) {
  constexpr i64 kCacheLine = 64 / sizeof(Word);
  return (ceil_div(shape[2] * shape[3], kCacheLine) | 1) * kCacheLine;
}
/// The words of such an image, with those that a slot may read beyond it.
i64 cell_words(const Shape& shape, i64 terms);
/// Gives a view the strides of such an image, from plane to plane instead of channel to channel.
template <class V> void lay_out_cells(V& v, i64 terms) {
  v.compact = false;
  v.stride[3] = 1;
  v.stride[2] = v.dim(3);
  v.stride[1] = plane_words(v.shape);
  v.stride[0] = ceil_div(v.dim(1), terms) * v.stride[1];
}

/// Makes the view of a matrix that of an image of one line, whose places are the rows.
template <class V> void become_image(V& v) {
  v.compact = false;
  v.shape = {1, v.dim(1), 1, v.dim(0)};
  v.stride[3] = v.stride[0];
  v.stride[0] = v.stride[2] = 0;
}
/// An image lies as pixels where everything that uses it can use them: kPixelChannels channels of a
/// place are neighbours in memory, and the pixels of so many channels make a plane.
inline i64 pixel_plane_words(const Shape& shape) { return (shape[2] * shape[3] | 1) * kPixelWords; }
template <class V> void lay_out_pixels(V& v) {
  v.compact = false;
  v.stride[3] = kPixelWords;
  v.stride[2] = v.dim(3) * kPixelWords;
  v.stride[1] = pixel_plane_words(v.shape);
  v.stride[0] = v.dim(1) / kPixelChannels * v.stride[1];
}

/// The slots of a tile and its output, whose lanes may be any number of elements apart.
struct Placement {
  Slot slot[kSlotsMax];
  Piece piece[i64{kSlotsMax} * kLanesMax];
  int slots = 0;
  i64 lane_stride = 1;  ///< between the lanes of a piece, in elements
  bool adds = false;    ///< whether to add to what the output already holds
};

/// Computes a tile whose lanes are neighbours in the output.
inline void compute_tile(const DotKernels& dot, const Tile& tile, int height, int slots) {
  if (dot.block)
    dot.block(tile, height, slots);
  else
    dot.tile[(height - 1) * dot.slots + slots - 1](tile);
}

/// Computes a tile by way of the stack, for any placement.
void run_staged(const DotKernels& dot, Tile tile, int height, const Placement& at);

/// Computes `height` rows of a tile, whose slots are those of the placement. The tile is not
/// copied: reading it back would wait for the stores of the tile before.
inline void run_tile(const DotKernels& dot, const Tile& tile, int height, const Placement& at) {
  if (at.lane_stride != 1 || at.adds)
    run_staged(dot, tile, height, at);
  else
    compute_tile(dot, tile, height, at.slots);
}

/// The plan of a matrix product with the inputs and the output of dense.
std::unique_ptr<Plan> dense_plan(const Arguments& a, const Kernel& kernel, const DotKernels& all);

/// The tiles of each instruction set, the most basic first.
std::vector<const DotKernels*> all_dots();

/// The tiles of the best instruction set that is no better than `most` and has some.
const DotKernels& best_dot(const Isa& most);

/// A kernel of `Op` for each instruction set that has tiles.
template <class Op> std::vector<Kernel> dot_kernels(
    std::unique_ptr<Plan> (*plan)(const Arguments&, const Kernel&, const DotKernels&)) {
  std::vector<Kernel> all;
  for (const DotKernels* dot : all_dots())
    all.push_back({Op::name, dot->isa, std::string(Op::name) + "_" + dot->isa,
        [=](const Arguments& a, const Kernel& k) { return plan(a, k, *dot); }});
  return all;
}

}  // namespace lockstep::cpu
