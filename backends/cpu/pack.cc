#include "backends/cpu/pack.h"

#include <sys/mman.h>

#include <new>

namespace lockstep::cpu {

bool is_block_better(i64 rows, i64 steps, i64 depth) {
  constexpr i64 kHalf = 16, kLoad = 12, kStore = 2, kProductsPerCycle = 2;
  const i64 rest = rows % kHalf;
  const i64 chunk = rows - rest + (rest > 0 ? max(rest, kLoad) : 0);
  return ceil_div(steps, depth) * chunk + kStore * rows < steps * rows / kProductsPerCycle;
}

void run_staged(const DotKernels& dot, Tile tile, int height, const Placement& at) {
  i32 stage[i64{kRowsMax} * kSlotsMax * kLanesMax];
  Piece whole[kSlotsMax];
  Slot slot[kSlotsMax];
  for (int s = 0; s < at.slots; ++s) {
    whole[s] = {i64{s} * dot.lanes, 0, dot.lanes};
    slot[s] = {at.slot[s].cells, whole + s, 1};
  }
  i32* const to = tile.to.data;
  const i64 row_stride = tile.to.row_stride, width = i64{at.slots} * dot.lanes;
  tile.to = {stage, width, false};
  tile.slots = slot;
  compute_tile(dot, tile, height, at.slots);
  // Stores lane by lane, because rows may be channels that are neighbours in memory.
  for (int s = 0; s < at.slots; ++s)
    for (int p = 0; p < at.slot[s].piece_count; ++p) {
      const Piece& piece = at.slot[s].pieces[p];
      const i32* from = stage + i64{s} * dot.lanes + piece.first;
      i32* y = to + piece.to;
      for (int i = 0; i < piece.count; ++i, y += at.lane_stride)
        for (int r = 0; r < height; ++r) {
          const i32 sum = from[r * width + i];
          y[r * row_stride] = at.adds ? add(y[r * row_stride], sum) : sum;
        }
    }
}

Packed::Packed(i64 bytes) {
  constexpr i64 kCacheLine = 64, kLargePage = i64{2} << 20;
  const bool is_large = bytes >= 2 * kLargePage;
  const i64 unit = is_large ? kLargePage : kCacheLine;
  const auto size = static_cast<std::size_t>(ceil_div(bytes, unit) * unit);
  memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(static_cast<std::size_t>(unit), size)));
  if (!memory_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (is_large) madvise(memory_.get(), size, MADV_HUGEPAGE);
#endif
}

i64 cell_words(const Shape& shape, i64 terms) {
  return shape[0] * ceil_div(shape[1], terms) * plane_words(shape) + kLanesMax;
}

namespace {

template <const DotKernels& kKernels> const DotKernels* kernels_of() { return &kKernels; }

/// The kernels of a set that has blocks of its own and else those of another set's vectors.
template <const DotBlocks& kBlocks> const DotKernels* kernels_of() {
  static const DotKernels all = [] {
    DotKernels k = *kBlocks.vectors;
    k.isa = kBlocks.isa;
    k.rows = kBlocks.rows;
    k.slots = kBlocks.slots;
    k.few_rows = kBlocks.vectors;
    k.macs_per_ns = kBlocks.macs_per_ns;
    k.tile = nullptr;
    k.block = kBlocks.block;
    k.pixels = &kBlocks.pixels;
    k.pixel_tile = nullptr;
    return k;
  }();
  return &all;
}

}  // namespace

std::vector<const DotKernels*> all_dots() {
  return {
#define LOCKSTEP_ISA(name, options, Type, kernels, runs) kernels_of<kernels>(),
#include "backends/cpu/isas.def"
  };
}

const DotKernels& best_dot(const Isa& most) {
  const DotKernels* best = nullptr;
  for (const Isa& isa : isas()) {
    for (const DotKernels* dot : all_dots())
      if (dot->isa == isa.name && isa.runnable) best = dot;
    if (isa.name == most.name) break;
  }
  return *best;
}

}  // namespace lockstep::cpu
