/// @file
/// Tiles for one instruction set. A source compiled for it defines a class of these members and
/// includes nothing else that defines functions:
///
///     kTerms, kCellBytes, kOffset, kLanes, kRows, kSlots   as in DotKernels
///     Words cells(const uint8_t*)              loads the cells of a slot
///     void add_products(Words& sum, Words cells, Words row)
///     void store_some(int32_t* to, Words v, int first, int count)   stores those lanes alone
///     Words load_some(const int32_t* from, int first, int count)    the same, others are anything
///
/// and, if the rows of a tile are better taken together, an inner loop of its own:
///
///     template <int R, int S> void multiply(const Tile& t, Words (&sum)[R][S])
///
/// or, if the products of a row are better all computed before they are added:
///
///     Words product(Words cells, Words row)
///     void add(Words& sum, Words product)
///
/// for tiles whose rows are pixels:
///
///     Words load_parts(const int32_t* from, int64_t stride, int count)   count words of every 16
///     void store_parts(int32_t* to, int64_t stride, Words v, int count)     bytes, the same
///
/// and, if an instruction narrows several vectors:
///
///     Words narrowed(Words a, Words b, Words c, Words d)   bytes; four of each in every 16
#pragma once
#include "backends/cpu/dot_cells.h"
#include "backends/cpu/dot_pack.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct Tiles : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::add_pixels, Base::add_surface, Base::kLanes, Base::load, Base::rescaled, Base::store;
  using Base::store_pixels, Base::store_rows;
  using typename Base::Pixels, typename Base::Words;

  template <int S> static Words (&filled(Words (&all)[S], Word w))[S] {
#pragma GCC unroll 8
    for (Words& v : all) v = w - Words{};
    return all;
  }
  /// The products of all slots first, where an instruction set parts them from their sums.
  template <int S>
  static void add_all(Words (&sum)[S], const Words (&cells)[S], const Words (&rows)[S]) {
    if constexpr (requires { &Set::product; }) {
      Words product[S];
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) product[s] = Set::product(cells[s], rows[s]);
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) Set::add(sum[s], product[s]);
    } else {
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) Set::add_products(sum[s], cells[s], rows[s]);
    }
  }

  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    const uint8_t* cells[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) cells[s] = t.slots[s].cells;
    const Word* row = t.rows;
    for (int64_t k = 0; k < t.steps; ++k, row += R) {
      Words x[S], w[S];
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) x[s] = Set::cells(cells[s] + t.offset[k]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) add_all(sum[r], x, filled(w, row[r]));
    }
  }

  template <int R, int S> static void tile(const Tile& t) {
    Words sum[R][S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      const Words start = t.lane_start ? load(t.lane_start + int64_t{s} * kLanes) : Words{};
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][s] = start + t.row_start[r];
    }
    if constexpr (requires { Set::template multiply<R, S>(t, sum); })
      Set::template multiply<R, S>(t, sum);
    else
      multiply<R, S>(t, sum);
    if (const Finish* f = t.finish) {
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s)
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sum[r][s] = rescaled(sum[r][s], f->sum);
    }
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s)
      for (int p = 0; p < t.slots[s].piece_count; ++p) {
        const Piece piece = t.slots[s].pieces[p];
        Words out[R];
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) out[r] = sum[r][s];
        if (t.finish && t.finish->adds) add_surface(t.added, t.finish->total, piece, out);
        store_rows(t.to, piece, out);
      }
  }

  template <int R, int S> static void pixel_tile(const Tile& t) {
    Words sum[R][S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][s] = load(t.row_start + int64_t{s} * kLanes);
    const Word* row = t.rows;
    for (int64_t k = 0; k < t.steps; ++k, row += int64_t{S} * kLanes) {
      const uint8_t* pixel = t.slots[0].cells + t.offset[k];
      Words x[S], w[S];
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) w[s] = load(row + int64_t{s} * kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        Word cell;
        __builtin_memcpy(&cell, pixel + r * Set::kCellBytes, sizeof cell);
        add_all(sum[r], filled(x, cell), w);
      }
    }
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s)
#pragma GCC unroll 8
      for (int r = 0; r < R; r += 4) {
        const Pixels at{t.slots[0].pieces->to + r, int64_t{s} * kLanes, R - r < 4 ? R - r : 4};
        Words out[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) out[k] = sum[k < at.count ? r + k : r][s];
        if (const Finish* f = t.finish) {
#pragma GCC unroll 4
          for (Words& v : out) v = rescaled(v, f->sum);
          if (f->adds) add_pixels(t.added, at, f->total, out);
        }
        store_pixels(t.to, at, out);
      }
  }

  /// Computes S vectors of every line, from a column on. The last vector of a line overlaps the one
  /// before if it is not full.
  template <int S> static void columns_of(const Lines& l, int64_t column) {
    const int64_t columns = l.columns, last = columns < kLanes ? 0 : columns - kLanes;
    const int64_t pitch = l.pitch, line_stride = l.line_stride, steps = l.steps;
    const Word* row = l.row;
    const int32_t* offset = l.offset;
    const uint8_t* cells[S];
    int32_t* to[S];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
      const int64_t next = column + int64_t{s} * kLanes, at = next < last ? next : last;
      cells[s] = l.cells + at * Set::kCellBytes;
      to[s] = l.to + at;
    }
    for (int64_t line = 0; line < l.lines; ++line) {
      const int64_t down = line * pitch;
      Words sum[S];
#pragma GCC unroll 4
      for (int s = 0; s < S; ++s) sum[s] = Words{} + l.start;
      for (int64_t k = 0; k < steps; ++k) {
        const Words w = row[k] - Words{};
        const int64_t tap = down + offset[k];
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) Set::add_products(sum[s], Set::cells(cells[s] + tap), w);
      }
      if (const Finish* f = l.finish) {
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) sum[s] = rescaled(sum[s], f->sum);
      }
#pragma GCC unroll 4
      for (int s = 0; s < S; ++s)
        if (columns < kLanes)
          Set::store_some(to[s] + line * line_stride, sum[s], 0, static_cast<int>(columns));
        else
          store(to[s] + line * line_stride, sum[s]);
    }
  }

  static void lines(const Lines& l) {
    constexpr int64_t kWidth = kLanes;
    int64_t c = 0;
    for (; c + 3 * kWidth < l.columns; c += 4 * kWidth) columns_of<4>(l, c);
    for (; c + kWidth < l.columns; c += 2 * kWidth) columns_of<2>(l, c);
    if (c < l.columns) columns_of<1>(l, c);
  }

  using Function = void (*)(const Tile&);
  template <std::size_t... i> static constexpr Function kTiles[] = {
      tile<static_cast<int>(i) / Set::kSlots + 1, static_cast<int>(i) % Set::kSlots + 1>...};
  template <std::size_t... i> static constexpr Function kPixelTiles[] = {
      pixel_tile<static_cast<int>(i) / Set::kSlots + 1, static_cast<int>(i) % Set::kSlots + 1>...};
  template <std::size_t... i> static constexpr const Function* tiles(std::index_sequence<i...>) {
    return &kTiles<i...>[0];
  }
  template <std::size_t... i>
  static constexpr const Function* pixel_tiles(std::index_sequence<i...>) {
    if constexpr (Set::kCellBytes == 4 && requires { &Set::store_parts; })
      return &kPixelTiles<i...>[0];
    return nullptr;
  }

  static constexpr DotKernels kernels(const char* isa, double macs_per_ns,
      const DotKernels* few_rows = nullptr, const PixelKernels* pixels = nullptr) {
    using Cells = CellLoops<Set>;
    using Pack = Packer<Set>;
    constexpr std::make_index_sequence<Set::kRows * Set::kSlots> kAll;
    return {isa, Set::kTerms, Set::kCellBytes, Set::kOffset, kLanes, Set::kRows, Set::kSlots,
        few_rows, macs_per_ns, tiles(kAll), nullptr, pixel_tiles(kAll), lines, Cells::depthwise,
        Cells::pool_lines, Cells::pool_columns, Pack::template pack<false>,
        Pack::template pack<true>, pixels};
  }
};

}  // namespace
}  // namespace lockstep::cpu
