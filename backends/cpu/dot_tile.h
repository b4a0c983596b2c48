/// @file
/// Tiles for one instruction set. A source compiled for it defines a class of these members and
/// includes nothing else that defines functions:
///
///     kTerms, kCellBytes, kOffset, kLanes, kRows, kSlots   as in DotKernels
///     Words cells(const uint8_t*)              loads the cells of a slot
///     void add_products(Words& sum, Words cells, Words row)
///     void store_some(int32_t* to, Words v, int first, int count)   those lanes alone
///     Words load_some(const int32_t* from, int first, int count)    the same, others are anything
///
/// and, if the rows of a tile are better taken together, an inner loop of its own:
///
///     template <int R, int S> void multiply(const Tile& t, Words (&sum)[R][S])
///
/// and, if an instruction narrows several vectors:
///
///     Words narrowed(Words a, Words b, Words c, Words d)   bytes; four of each in every 16
#pragma once
#include <utility>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {
namespace {

/// A vector of 32-bit lanes, of any alignment in memory.
template <int kLanes> struct VectorOf {
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  typedef int32_t SignedWords __attribute__((vector_size(4 * kLanes)));
  typedef uint16_t Shorts __attribute__((vector_size(2 * kLanes)));
  typedef uint8_t Bytes __attribute__((vector_size(4 * kLanes)));
  typedef uint16_t HalfWords __attribute__((vector_size(4 * kLanes)));
  typedef uint64_t Longs __attribute__((vector_size(4 * kLanes)));

  static Words load(const void* from) {
    Words v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  /// Every second word; reads none beyond the last.
  static Words load_even(const int32_t* from) {
    return even(load(from), load(from + kLanes - 1), std::make_index_sequence<kLanes>());
  }
  template <std::size_t... i> static Words even(Words low, Words high, std::index_sequence<i...>) {
    return __builtin_shufflevector(low, high, (2 * i < kLanes ? 2 * i : 2 * i + 1)...);
  }
  static void store(void* to, Words v) { __builtin_memcpy(to, &v, sizeof v); }
  /// For instruction sets whose masked stores are slow, or which have none. Whole vectors are
  /// stored elsewhere.
  static void store_some(int32_t* to, Words v, int first, int count) {
    static_assert(kLanes <= 8);
    int32_t lane[kLanes];
    store(lane, v);
    const int32_t* from = lane + first;
    for (int n = 4; n > 0; n /= 2)
      if (count & n) {
        for (int i = 0; i < n; ++i) to[i] = from[i];
        to += n;
        from += n;
      }
  }
  static Words load_some(const int32_t* from, int first, int count) {
    int32_t lane[kLanes] = {};
    for (int i = 0; i < count; ++i) lane[first + i] = from[i];
    return load(lane);
  }
};

template <class Set> struct Tiles : VectorOf<Set::kLanes> {
  static constexpr int kLanes = Set::kLanes, kTerms = Set::kTerms, kCellBytes = Set::kCellBytes;
  using typename VectorOf<kLanes>::Words, typename VectorOf<kLanes>::SignedWords;
  using typename VectorOf<kLanes>::Shorts;
  using VectorOf<kLanes>::load, VectorOf<kLanes>::load_even, VectorOf<kLanes>::store;
  using typename VectorOf<kLanes>::Bytes, typename VectorOf<kLanes>::HalfWords,
      typename VectorOf<kLanes>::Longs;

  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    const uint8_t* cells[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) cells[s] = t.slots[s].cells;
    const Word* row = t.rows;
    for (int64_t k = 0; k < t.steps; ++k, row += R) {
      Words x[S];
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) x[s] = Set::cells(cells[s] + t.offset[k]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const Words w = row[r] - Words{};
#pragma GCC unroll 8
        for (int s = 0; s < S; ++s) Set::add_products(sum[r][s], x[s], w);
      }
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
        if (t.finish && t.finish->adds) add_surface(t, piece, out);
        store_rows(t.to, piece, out);
      }
  }

  static Words rescaled(Words v, const Rescale& s) {
    const SignedWords low = s.low - SignedWords{}, high = s.high - SignedWords{};
    SignedWords x = reinterpret_cast<SignedWords>(v + static_cast<uint32_t>(s.half)) >> s.shift;
    x = x < low ? low : x;
    x = x > high ? high : x;
    return reinterpret_cast<Words>(x);
  }

  static constexpr uint32_t kFlip = Set::kOffset ? 0x80808080 : 0;  // adds 128 to each byte
  static constexpr int kTermBits = 32 / kTerms;
  static constexpr uint32_t kTermMask = kTermBits == 8 ? 0xff : 0xffff;

  /// Rows that share Words.
  template <int R> static Words joined_rows(const Words (&out)[R], int first) {
    if constexpr (requires { Set::narrowed(out[0], out[0], out[0], out[0]); }) {
      const auto row = [&](int k) { return out[first + k < R ? first + k : R - 1]; };
      const Words rows = Set::narrowed(row(0), row(1), row(2), row(3));
      return transposed(rows, std::make_index_sequence<sizeof(Words)>()) ^ kFlip;
    }
    Words all = out[first] & kTermMask;
#pragma GCC unroll 4
    for (int k = 1; k < kTerms; ++k)
      if (first + k < R) all |= (out[first + k] & kTermMask) << (k * kTermBits);
    return all ^ kFlip;
  }
  /// Transposes 4 by 4 bytes in every 16.
  template <std::size_t... i> static Words transposed(Words v, std::index_sequence<i...>) {
    const auto bytes = reinterpret_cast<Bytes>(v);
    return reinterpret_cast<Words>(
        __builtin_shufflevector(bytes, bytes, (i / 16 * 16 + i % 4 * 4 + i % 16 / 4)...));
  }
  static Words shared_row(Words all, int k) {
    const auto high = reinterpret_cast<SignedWords>((all ^ kFlip) << (32 - (k + 1) * kTermBits));
    return reinterpret_cast<Words>(high >> (32 - kTermBits));
  }

  static Words load_piece(const int32_t* from, const Piece& piece) {
    return piece.count == kLanes ? load(from) : Set::load_some(from, piece.first, piece.count);
  }

  static void store_piece(int32_t* to, Words v, const Piece& piece) {
    if (piece.count == kLanes)
      store(to, v);
    else
      Set::store_some(to, v, piece.first, piece.count);
  }

  template <int R> static void add_surface(const Tile& t, const Piece& piece, Words (&out)[R]) {
    const Rescale& total = t.finish->total;
    const int32_t* from = t.added.data + piece.to;
    const int64_t stride = t.added.row_stride;
    if (t.added.has_cells) {
      Words all{};
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        if (r % kTerms == 0) all = load_piece(from + r / kTerms * stride, piece);
        out[r] = rescaled(out[r] + shared_row(all, r % kTerms), total);
      }
    } else {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
        out[r] = rescaled(out[r] + load_piece(from + r * stride, piece), total);
    }
  }

  template <int R>
  static void store_rows(const Surface& surface, const Piece& piece, const Words (&out)[R]) {
    int32_t* to = surface.data + piece.to;
    const int64_t stride = surface.row_stride;
    if (surface.has_cells) {
#pragma GCC unroll 8
      for (int r = 0; r < R; r += kTerms)
        store_piece(to + r / kTerms * stride, joined_rows(out, r), piece);
    } else if (piece.count == kLanes) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) store(to + r * stride, out[r]);
    } else {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
        Set::store_some(to + r * stride, out[r], piece.first, piece.count);
    }
  }

  /// S vectors of every line, from a column on. The last vector of a line overlaps the one before
  /// if it is not full.
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
      cells[s] = l.cells + at * kCellBytes;
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

  /// The elements of two vectors in turns, in every 16 bytes: those of the low or the high halves.
  template <class V, bool kHigh, std::size_t... i>
  static V in_turns(V a, V b, std::index_sequence<i...>) {
    constexpr std::size_t kAll = sizeof...(i), kPart = 16 * kAll / sizeof(V);
    return __builtin_shufflevector(
        a, b, (i / kPart * kPart + i % kPart / 2 + (kHigh ? kPart / 2 : 0) + i % 2 * kAll)...);
  }
  template <class V, bool kHigh = false> static Words in_turns(Words a, Words b) {
    return reinterpret_cast<Words>(in_turns<V, kHigh>(reinterpret_cast<V>(a),
        reinterpret_cast<V>(b), std::make_index_sequence<sizeof(V) / sizeof(V{}[0])>()));
  }
  /// Transposes 4 by 4 elements of as many vectors, in every 16 bytes.
  template <class V, class Pairs> static void transpose(Words (&v)[4]) {
    const Words a = in_turns<V>(v[0], v[1]), b = in_turns<V>(v[2], v[3]),
                c = in_turns<V, true>(v[0], v[1]), d = in_turns<V, true>(v[2], v[3]);
    v[0] = in_turns<Pairs>(a, b);
    v[1] = in_turns<Pairs, true>(a, b);
    v[2] = in_turns<Pairs>(c, d);
    v[3] = in_turns<Pairs, true>(c, d);
  }

  /// From the cells of as many taps to words of these taps: the channels of a lane follow each
  /// other, and in every 16 bytes 4 / kTerms lanes of each vector.
  static void gather_taps(Words (&v)[4]) { transpose<Bytes, HalfWords>(v); }
  static void gather_taps(Words (&v)[2]) {
    const Words low = in_turns<HalfWords>(v[0], v[1]);
    v[1] = in_turns<HalfWords, true>(v[0], v[1]);
    v[0] = low;
  }
  /// From such vectors of sums to a vector for each channel.
  static void part_channels(Words (&v)[4]) { transpose<Words, Longs>(v); }
  static void part_channels(Words (&v)[2]) {
    const Words low = in_turns<Words>(v[0], v[1]), high = in_turns<Words, true>(v[0], v[1]);
    v[0] = in_turns<Words>(low, high);
    v[1] = in_turns<Words, true>(low, high);
  }
  static void depthwise(const DepthwiseLines& l) {
    const int64_t columns = l.columns, last = columns < kLanes ? 0 : columns - kLanes;
    const Words start = load(l.start);
    for (int64_t line = 0; line < l.lines; ++line)
      for (int64_t next = 0; next < columns; next += kLanes) {
        const int64_t column = next < last ? next : last;
        const uint8_t* cells = l.cells + line * l.pitch + column * kCellBytes;
        Words sum[kTerms];
        for (Words& s : sum) s = start;
        const int32_t* offset = l.offset;
        const Word* row = l.rows;
        for (int64_t k = 0; k < l.steps; ++k, offset += kTerms, row += kLanes) {
          Words taps[kTerms];
#pragma GCC unroll 4
          for (int t = 0; t < kTerms; ++t) taps[t] = Set::cells(cells + offset[t]);
          gather_taps(taps);
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
        part_channels(sum);
        store_rows(l.to, piece, sum);
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

  /// Joins the terms of some lanes, of which `load` loads a term: into Words of 4 bytes or 2
  /// shorts, or into cells of 4 or 2 bytes.
  template <bool kIsRow, bool kIsFull, class Load>
  static auto joined(const int32_t* from, int64_t terms, int64_t apart, Load load) {
    constexpr int kBits = 8 * (kIsRow ? 4 : kCellBytes) / kTerms;
    constexpr uint32_t kMask = kBits == 8 ? 0xff : 0xffff;
    auto word = load(from) & kMask;
#pragma GCC unroll 4
    for (int k = 1; k < kTerms; ++k)
      if (kIsFull || k < terms) word |= (load(from + k * apart) & kMask) << (k * kBits);
    return kIsRow ? word : word ^ kFlip;
  }

  /// Packs a step whose lanes are kApart elements apart, N at a time; the last N may overlap.
  template <bool kIsRow, int N, int kApart, bool kIsFull>
  static void pack_lanes(uint8_t* to, const int32_t* from, const Terms& t) {
    using V = VectorOf<N>;
    const int64_t lanes = t.lanes, terms = t.terms, apart = t.term_stride;
    for (int64_t l = 0; l < lanes; l += N) {
      if (l > lanes - N) l = lanes - N;
      const auto words =
          joined<kIsRow, kIsFull>(from + l * kApart, terms, apart, [](const int32_t* at) {
            if constexpr (kApart == 2)
              return V::load_even(at);
            else
              return V::load(at);
          });
      if constexpr (kIsRow || kCellBytes == 4) {
        V::store(to + 4 * l, words);
      } else {
        const typename V::Shorts cells = __builtin_convertvector(words, typename V::Shorts);
        __builtin_memcpy(to + 2 * l, &cells, sizeof cells);
      }
    }
  }

  /// The low bytes of four lanes of four neighbours each.
  static VectorOf<4>::Words narrow4(const int32_t* from, int64_t apart) {
    typedef uint16_t Shorts __attribute__((vector_size(16)));
    typedef uint8_t Bytes __attribute__((vector_size(16)));
    const auto low_halves = [&](int64_t lane) {
      const auto a = reinterpret_cast<Shorts>(VectorOf<4>::load(from + lane * apart)),
                 b = reinterpret_cast<Shorts>(VectorOf<4>::load(from + (lane + 1) * apart));
      return reinterpret_cast<Bytes>(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
    };
    return reinterpret_cast<VectorOf<4>::Words>(__builtin_shufflevector(
        low_halves(0), low_halves(2), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
  }

  /// Packs terms that are neighbours in memory, or any other. Blocks of steps reach as far along
  /// the memory of a lane as across lanes.
  template <bool kIsRow> static void pack_any(uint8_t* to, const int32_t* from, const Terms& t) {
    constexpr int kBytes = kIsRow ? 4 : kCellBytes, kBlock = 16;
    const int64_t lanes = t.lanes, terms = t.terms, apart = t.term_stride;
    const int64_t next_lane = t.lane_stride, next_step = t.step_stride, to_next = t.to_stride;
    for (int64_t rest = t.steps; rest > 0; rest -= kBlock) {
      const int64_t steps = rest < kBlock ? rest : kBlock;
      int64_t l = 0;
      if constexpr (kTerms == 4)
        if (terms == 4 && apart == 1)
          for (; l + 4 <= lanes; l += 4)
            for (int64_t s = 0; s < steps; ++s) {
              const auto words = narrow4(from + s * next_step + l * next_lane, next_lane);
              VectorOf<4>::store(to + s * to_next + 4 * l, kIsRow ? words : words ^ kFlip);
            }
      for (; l < lanes; ++l)
        for (int64_t s = 0; s < steps; ++s) {
          const uint32_t word = joined<kIsRow, false>(from + s * next_step + l * next_lane, terms,
              apart, [](const int32_t* at) { return static_cast<uint32_t>(*at); });
          __builtin_memcpy(to + s * to_next + l * kBytes, &word, kBytes);
        }
      to += kBlock * to_next;
      from += kBlock * next_step;
    }
  }

  template <void (*kPackStep)(uint8_t*, const int32_t*, const Terms&)>
  static void pack_steps(uint8_t* to, const int32_t* from, const Terms& t) {
    for (int64_t s = 0; s < t.steps; ++s, to += t.to_stride, from += t.step_stride)
      kPackStep(to, from, t);
  }

  template <bool kIsRow> static void pack(uint8_t* to, const int32_t* from, const Terms& t) {
    const bool is_full = t.terms == kTerms;
    const auto steps = t.lane_stride == 1 && t.lanes >= kLanes
        ? (is_full ? pack_steps<pack_lanes<kIsRow, kLanes, 1, true>>
                   : pack_steps<pack_lanes<kIsRow, kLanes, 1, false>>)
        : t.lane_stride == 1 && t.lanes >= 4      ? pack_steps<pack_lanes<kIsRow, 4, 1, false>>
        : t.lane_stride == 2 && t.lanes >= kLanes ? pack_steps<pack_lanes<kIsRow, kLanes, 2, false>>
                                                  : pack_any<kIsRow>;
    steps(to, from, t);
  }

  template <std::size_t... i> static constexpr void (*const kTiles[])(const Tile&) = {
      tile<static_cast<int>(i) / Set::kSlots + 1, static_cast<int>(i) % Set::kSlots + 1>...};
  template <std::size_t... i> static constexpr auto tiles_of(std::index_sequence<i...>) {
    return &kTiles<i...>[0];
  }

  static constexpr DotKernels kernels(
      const char* isa, double macs_per_ns, const DotKernels* few_rows = nullptr) {
    return {isa, kTerms, kCellBytes, Set::kOffset, kLanes, Set::kRows, Set::kSlots, few_rows,
        macs_per_ns, tiles_of(std::make_index_sequence<Set::kRows * Set::kSlots>()), lines,
        depthwise, pool_lines, pool_columns, pack<false>, pack<true>};
  }
};

}  // namespace
}  // namespace lockstep::cpu
