/// @file
/// Loops over cells outside of tiles, for the instruction set of a class as in dot_tile.h.
#pragma once
#include "backends/cpu/dot_surface.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct CellLoops : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::kFlip, Base::kLanes, Base::kTerms;
  using Base::load, Base::load_even, Base::rescaled, Base::store, Base::store_piece;
  using typename Base::Bytes, typename Base::Words;

  /// Computes L lines at once, so that taps which several of them read are gathered once.
  template <int L> static void depthwise_lines(const DepthwiseLines& l, int64_t line) {
    const int64_t columns = l.columns, last = columns < kLanes ? 0 : columns - kLanes;
    const Words start = load(l.start);
    for (int64_t next = 0; next < columns; next += kLanes) {
      const int64_t column = next < last ? next : last;
      const uint8_t* cells = l.cells + line * l.pitch + column * Set::kCellBytes;
      const int32_t* offset = l.offset;
      Words sum[L][kTerms];
#pragma GCC unroll 4
      for (auto& s : sum)
#pragma GCC unroll 4
        for (Words& v : s) v = start;
      for (int64_t i = 0; i < l.kernel_lines + L - 1; ++i) {
        if (L > 1) offset = l.offset;
        for (int64_t k = 0; k < l.steps; ++k, offset += kTerms) {
          Words taps[kTerms];
#pragma GCC unroll 4
          for (int t = 0; t < kTerms; ++t) taps[t] = Set::cells(cells + offset[t]);
          Base::gather_taps(taps);
#pragma GCC unroll 4
          for (int j = 0; j < L; ++j) {
            if (i < j || i - j >= l.kernel_lines) continue;
            const Words w = load(l.rows + ((i - j) * l.steps + k) * kLanes);
#pragma GCC unroll 4
            for (int t = 0; t < kTerms; ++t) Set::add_products(sum[j][t], taps[t], w);
          }
        }
        if (L > 1) cells += l.pitch;
      }
#pragma GCC unroll 4
      for (int j = 0; j < L; ++j) store_channels(l, (line + j) * l.line_stride + column, sum[j]);
    }
  }
  static void store_channels(const DepthwiseLines& l, int64_t to, Words (&sum)[kTerms]) {
    if (const Finish* f = l.finish)
      for (Words& s : sum) s = rescaled(s, f->sum);
    const Piece piece{to, 0, l.columns < kLanes ? static_cast<int32_t>(l.columns) : kLanes};
    if constexpr (requires { &Set::narrowed; })
      if (l.to.has_cells) {
        const Words cells = Set::narrowed(sum[0], sum[1], sum[2], sum[3]) ^ kFlip;
        return store_piece(l.to.data + to, cells, piece);
      }
    Base::part_channels(sum);
    Base::store_rows(l.to, piece, sum);
  }

  static void depthwise(const DepthwiseLines& l) {
    // As many lines as registers can hold the sums of.
    constexpr int kMost = Set::kRows * Set::kSlots >= 4 * kTerms ? 4 : 2;
    int64_t line = 0;
    if (l.is_dense) {
      for (; line + kMost <= l.lines; line += kMost) depthwise_lines<kMost>(l, line);
      for (; line + 2 <= l.lines; line += 2) depthwise_lines<2>(l, line);
    }
    for (; line < l.lines; ++line) depthwise_lines<1>(l, line);
  }

  static constexpr uint32_t kLeastCell = Set::kOffset ? 0 : kTerms == 4 ? 0x80808080 : 0x80008000;

  /// The larger one of each two terms.
  static Words larger(Words a, Words b) {
    typedef int8_t SignedBytes __attribute__((vector_size(4 * kLanes)));
    typedef int16_t SignedHalves __attribute__((vector_size(4 * kLanes)));
    const auto larger_of = [&](auto x, auto y) { return reinterpret_cast<Words>(x > y ? x : y); };
    if constexpr (Set::kOffset)
      return larger_of(reinterpret_cast<Bytes>(a), reinterpret_cast<Bytes>(b));
    else if constexpr (kTerms == 4)
      return larger_of(reinterpret_cast<SignedBytes>(a), reinterpret_cast<SignedBytes>(b));
    else
      return larger_of(reinterpret_cast<SignedHalves>(a), reinterpret_cast<SignedHalves>(b));
  }

  static void pool_lines(const PoolLines& p) {
    const Words outside = kLeastCell - Words{};
    Word* to = p.to;
    for (int64_t c = 0; c < p.before; c += kLanes) store(to + c, outside);
    to += p.before;
    for (int64_t c = 0; c < p.width; c += kLanes) {
      Words most = load(p.from + c);
      for (int64_t l = 1; l < p.lines; ++l) most = larger(most, load(p.from + l * p.line + c));
      store(to + c, most);
    }
    to += p.width;
    for (int64_t c = 0; c < p.after; c += kLanes) store(to + c, outside);
  }

  static void pool_columns(const PoolColumns& p) {
    for (int64_t c = 0; c < p.columns; c += kLanes) {
      const auto* from = reinterpret_cast<const int32_t*>(p.from + c * p.stride);
      const auto column = [&](int64_t k) {
        return p.stride == 1 ? load(from + k) : load_even(from + k);
      };
      Words most = column(0);
      for (int64_t k = 1; k < p.window; ++k) most = larger(most, column(k));
      const int64_t rest = p.columns - c;
      store_piece(p.to + c, most, {0, 0, rest < kLanes ? static_cast<int32_t>(rest) : kLanes});
    }
  }
};

}  // namespace
}  // namespace lockstep::cpu
