/// @file
/// Products of pixels and weights, for a unit that multiplies matrices and a class of vectors as in
/// dot_matrix.h. The unit also has
///
///     template <int C, int A, int B> static void add_pixel_products()   unsigned A, signed B
#pragma once
#include "backends/cpu/dot_matrix.h"
#include "backends/cpu/dot_pixels.h"

namespace lockstep::cpu {
namespace {

template <class Set, class Unit> struct PixelProducts : PixelLoops<Set> {
  using Base = PixelLoops<Set>;
  using Base::kRowBytes, Base::kTile, Base::kTileBytes;
  using Product = typename Base::template Product<2>;
  using Finishing = typename Base::template Finishing<true>;

  // Registers: sums of [tile][slot] of two slots, weights of a tile, pixels of a slot.
  static constexpr int kWeights = 4, kPixels = 6;
  static constexpr int kAtOnce = 8;  ///< pixels that become outputs while a chunk is multiplied

  static void configure(int height) {
    TileConfig c{.palette = 1, .start_row = 0, .reserved = {}, .row_bytes = {}, .rows = {}};
    for (int t = 0; t < 8; ++t) {
      c.rows[t] = static_cast<uint8_t>(t >= kWeights && t < kPixels ? kTile : height);
      c.row_bytes[t] = kRowBytes;
    }
    Unit::configure(c);
  }

  /// Computes half the outputs of a product; so many `turns` also make outputs of all earlier sums.
  template <int S>
  static void multiply(const PixelBlock& b, Product& p, int half, int turns, Finishing& rest) {
    Unit::template zero<0>();
    Unit::template zero<2>();
    if constexpr (S > 1) Unit::template zero<1>();
    if constexpr (S > 1) Unit::template zero<3>();
    const Slot* const slots = b.slots + p.slot;
    const int64_t half_bytes = b.chunks * 2 * kTileBytes;
    const uint8_t* weights = b.weights + (p.panel * 2 + half) * half_bytes;
    // A share of the weights of the next panel is fetched meanwhile.
    const uint8_t* next = weights + 2 * half_bytes + p.slot / 2 * b.lines_ahead * kRowBytes;
    const int parts = static_cast<int>(b.chunks) * turns;
    const int least = (rest.left() + parts - 1) / parts, pixels = least < kAtOnce ? kAtOnce : least;
    for (int64_t c = 0; c < b.chunks; ++c, weights += 2 * kTileBytes) {
      Unit::template load<6>(slots[0].cells + b.offset[c], b.pixel);
      Unit::template load<4>(weights, kRowBytes);
      Unit::template add_pixel_products<0, 6, 4>();
      if constexpr (S > 1) {
        Unit::template load<7>(slots[1].cells + b.offset[c], b.pixel);
        Unit::template add_pixel_products<1, 7, 4>();
      }
      Unit::template load<5>(weights + kTileBytes, kRowBytes);
      Unit::template add_pixel_products<2, 6, 5>();
      if constexpr (S > 1) Unit::template add_pixel_products<3, 7, 5>();
      for (int l = 0; l < b.lines_ahead; ++l) __builtin_prefetch(next + l * kRowBytes, 0, 2);
      next += 2 * kTileBytes;
      rest.go_on(pixels);
    }
    const int tile = 2 * half;
    Unit::template store<0>(p.sums[0][tile].of, kRowBytes);
    Unit::template store<2>(p.sums[0][tile + 1].of, kRowBytes);
    if constexpr (S > 1) Unit::template store<1>(p.sums[1][tile].of, kRowBytes);
    if constexpr (S > 1) Unit::template store<3>(p.sums[1][tile + 1].of, kRowBytes);
  }
  static void multiply(const PixelBlock& b, Product& p, int half, int turns, Finishing& rest) {
    p.slots > 1 ? multiply<2>(b, p, half, turns, rest) : multiply<1>(b, p, half, turns, rest);
  }

  // Sums that a unit has just stored cannot be read at once. They become outputs during the second
  // half of the next product and the first half of the one after that, which then overwrites them.
  static void block(const PixelBlock& b) {
    configure(b.height);
    Product product[2];
    Finishing rest(b);
    const Product* before = nullptr;
    int turn = 0;
    for (int64_t panel = 0; panel * kPixelChannels < b.outputs; ++panel)
      for (int slot = 0; slot < b.slot_count; slot += 2, turn ^= 1) {
        Product& p = product[turn];
        p.panel = panel;
        p.slot = slot;
        p.slots = b.slot_count - slot < 2 ? 1 : 2;
        multiply(b, p, 0, 1, rest);
        if (before) rest.begin(*before);
        multiply(b, p, 1, 2, rest);
        before = &p;
      }
    Unit::release();
    rest.go_on(rest.left());
    rest.begin(*before);
    rest.go_on(rest.left());
  }

  static constexpr PixelKernels kernels() { return Base::kernels(kPixelRows, true, block); }
};

}  // namespace
}  // namespace lockstep::cpu
