/// @file
/// Products of pixels and weights for a class of vectors as in dot_tile.h: a tile has the outputs
/// of a panel for a few pixels. Each value of a pixel multiplies all weights of its step.
#pragma once
#include "backends/cpu/dot_pixels.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct PixelTiles : PixelLoops<Set> {
  using Base = PixelLoops<Set>;
  using Base::kRowBytes, Base::kTile, Base::kTileBytes, Base::kTiles, Base::load, Base::store;
  using typename Base::Words;

  static constexpr int kRows = 12, kHalf = kTiles / 2;  ///< pixels and tiles with sums in registers
  static constexpr int kSlots = 4;                      ///< that share weights in the first cache
  static constexpr int64_t kChunks = 9;                 ///< whose weights the first cache holds
  static constexpr int64_t kWordBytes = sizeof(Word);
  using Product = typename Base::template Product<kSlots>;
  using Finishing = typename Base::template Finishing<false>;

  /// Adds the products of some chunks to the sums of half the outputs of a slot, or begins these
  /// sums. Meanwhile it fetches a share of the weights of the next panel.
  // In other forms, such as unrolled or do-while loops, g++ 12 does not keep the sums in registers.
  template <int R> static void multiply(
      const PixelBlock& b, Product& p, int slot, int half, int64_t first, int64_t last) {
    const int64_t half_bytes = b.chunks * kHalf * kTileBytes, pixel = b.pixel;
    auto* const sums = p.sums[slot] + half * kHalf;
    Words sum[R][kHalf];
#pragma GCC unroll 2
    for (int t = 0; t < kHalf; ++t) {
      const uint32_t* const start = b.start + p.panel * kPixelChannels + (half * kHalf + t) * kTile;
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) sum[r][t] = load(first ? sums[t].of + r * kTile : start);
    }
    const int64_t at = (p.panel * 2 + half) * half_bytes + first * kHalf * kTileBytes;
    const uint8_t* weights = b.weights + at;
    const int pair = (p.slot + slot) / 2, lines_ahead = slot % 2 ? 0 : b.lines_ahead;
    const uint8_t* next = weights + 2 * half_bytes + pair * b.lines_ahead * kRowBytes;
    for (int64_t c = first; c < last; ++c) {
      const uint8_t* cells[(R + 2) / 3];
#pragma GCC unroll 4
      for (int r = 0; r < R; r += 3)
        cells[r / 3] = b.slots[p.slot + slot].cells + b.offset[c] + r * pixel;
      const int64_t bytes = kWordBytes * (c + 1 < b.chunks ? kTile : b.last_steps);
      for (int64_t k = 0; k < bytes; k += kWordBytes, weights += kRowBytes) {
        const Words w[] = {load(weights), load(weights + kTileBytes)};
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
          Word cell;
          __builtin_memcpy(&cell, cells[r / 3] + r % 3 * pixel + k, sizeof cell);
          const Words x = cell - Words{};
#pragma GCC unroll 2
          for (int t = 0; t < kHalf; ++t) Set::add_products(sum[r][t], x, w[t]);
        }
      }
      weights += kTileBytes;
      for (int l = 0; l < lines_ahead; ++l) __builtin_prefetch(next + l * kRowBytes, 0, 2);
      next += kHalf * kTileBytes;
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int t = 0; t < kHalf; ++t) store(sums[t].of + r * kTile, sum[r][t]);
  }

  /// The function that computes a slot down to its last pixel with an output.
  template <std::size_t... i> static auto multiply_of(const Slot& slot, std::index_sequence<i...>) {
    using Function = void (*)(const PixelBlock&, Product&, int, int, int64_t, int64_t);
    static constexpr Function kOf[] = {multiply<static_cast<int>(i) + 1>...};
    const Piece& last = slot.pieces[slot.piece_count - 1];
    return kOf[last.first + last.count - 1];
  }

  static void block(const PixelBlock& b) {
    const int64_t parts = (b.chunks + kChunks - 1) / kChunks;
    Product p;
    Finishing rest(b);
    for (p.panel = 0; p.panel * kPixelChannels < b.outputs; ++p.panel)
      for (p.slot = 0; p.slot < b.slot_count; p.slot += kSlots) {
        p.slots = b.slot_count - p.slot < kSlots ? b.slot_count - p.slot : kSlots;
        for (int half = 0; half < 2; ++half)
          for (int64_t part = 0; part < parts; ++part)
            for (int k = 0; k < p.slots; ++k) {
              const Slot& slot = b.slots[p.slot + k];
              if (slot.piece_count == 0) continue;  // between two rows of outputs
              const auto multiply = multiply_of(slot, std::make_index_sequence<kRows>());
              multiply(b, p, k, half, part * b.chunks / parts, (part + 1) * b.chunks / parts);
            }
        rest.begin(p);
        rest.go_on(rest.left());
      }
  }

  static constexpr PixelKernels kernels() { return Base::kernels(kRows, false, block); }
};

}  // namespace
}  // namespace lockstep::cpu
