/// @file
/// Loops over cells that are no tiles, for the instruction set of a class as in dot_tile.h.
#pragma once
#include "backends/cpu/dot_surface.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct CellLoops : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::kFlip, Base::kLanes, Base::kTerms;
  using Base::load, Base::load_even, Base::rescaled, Base::store, Base::store_piece;
  using typename Base::Bytes, typename Base::Words;

  static void depthwise(const DepthwiseLines& l) {
    const int64_t columns = l.columns, last = columns < kLanes ? 0 : columns - kLanes;
    const Words start = load(l.start);
    for (int64_t line = 0; line < l.lines; ++line)
      for (int64_t next = 0; next < columns; next += kLanes) {
        const int64_t column = next < last ? next : last;
        const uint8_t* cells = l.cells + line * l.pitch + column * Set::kCellBytes;
        Words sum[kTerms];
        for (Words& s : sum) s = start;
        const int32_t* offset = l.offset;
        const Word* row = l.rows;
        for (int64_t k = 0; k < l.steps; ++k, offset += kTerms, row += kLanes) {
          Words taps[kTerms];
#pragma GCC unroll 4
          for (int t = 0; t < kTerms; ++t) taps[t] = Set::cells(cells + offset[t]);
          Base::gather_taps(taps);
          const Words w = load(row);
#pragma GCC unroll 4
          for (int t = 0; t < kTerms; ++t) Set::add_products(sum[t], taps[t], w);
        }
        if (const Finish* f = l.finish)
          for (Words& s : sum) s = rescaled(s, f->sum);
        const Piece piece{line * l.line_stride + column, 0,
            columns < kLanes ? static_cast<int32_t>(columns) : kLanes};
        if constexpr (requires { Set::narrowed(start, start, start, start); })
          if (l.to.has_cells) {
            const Words cells = Set::narrowed(sum[0], sum[1], sum[2], sum[3]) ^ kFlip;
            store_piece(l.to.data + piece.to, cells, piece);
            continue;
          }
        Base::part_channels(sum);
        Base::store_rows(l.to, piece, sum);
      }
  }

  static constexpr uint32_t kLeastCell = Set::kOffset ? 0 : kTerms == 4 ? 0x80808080 : 0x80008000;

  /// The larger ones of the terms of cells.
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
