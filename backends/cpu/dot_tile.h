/// @file
/// Tiles for one instruction set. A source compiled for it defines a class of these members and
/// includes nothing else that defines functions:
///
///     kTerms, kOffset, kLanes, kRows, kSlots   as in DotKernels
///     Words cells(const uint8_t*)              loads the cells of a slot
///     void add_products(Words& sum, Words cells, Words row)
///     void store_some(int32_t* to, Words v, int first, int count)   those lanes alone
///
/// Or, in place of cells and add_products, an inner loop of its own:
///
///     template <int R, int S> void multiply(const Tile& t, Words (&sum)[R][S])
#pragma once
#include <utility>

#include "backends/cpu/dot.h"

namespace lockstep::cpu {
namespace {

/// A vector of 32-bit lanes, of any alignment in memory.
template <int kLanes> struct VectorOf {
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  typedef uint16_t Shorts __attribute__((vector_size(2 * kLanes)));
  static Words load(const void* from) {
    Words v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
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
};

template <class Set> struct Tiles : VectorOf<Set::kLanes> {
  static constexpr int kLanes = Set::kLanes, kTerms = Set::kTerms;
  using typename VectorOf<kLanes>::Words, typename VectorOf<kLanes>::Shorts;
  using VectorOf<kLanes>::load, VectorOf<kLanes>::store;

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
      for (int r = 0; r < R; ++r) sum[r][s] = start + static_cast<uint32_t>(t.row_start[r]);
    }
    if constexpr (requires { Set::template multiply<R, S>(t, sum); })
      Set::template multiply<R, S>(t, sum);
    else
      multiply<R, S>(t, sum);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s)
      for (int p = 0; p < t.slots[s].piece_count; ++p) {
        const Piece piece = t.slots[s].pieces[p];
        const int64_t stride = t.row_stride;
        int32_t* to = t.to + piece.to;
        if (piece.count == kLanes) {
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) store(to + r * stride, sum[r][s]);
        } else {
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r)
            Set::store_some(to + r * stride, sum[r][s], piece.first, piece.count);
        }
      }
  }

  static constexpr uint32_t kByte = 0xff;
  static constexpr uint32_t kFlip = Set::kOffset ? 0x80808080 : 0;  // adds 128 to each byte

  /// One lane: a Word of 4 bytes or 2 shorts, or a cell of 4 or 2 bytes.
  template <bool kIsRow, class V> static V joined(const int32_t* from, const Terms& t, V zero) {
    constexpr int kBits = kIsRow ? 32 / kTerms : 8;
    constexpr uint32_t kMask = kBits == 8 ? kByte : 0xffff;
    V word = zero;
#pragma GCC unroll 4
    for (int k = 0; k < kTerms; ++k)
      if (k < t.terms) {
        V v;
        __builtin_memcpy(&v, from + k * t.term_stride, sizeof v);
        word |= (v & kMask) << (k * kBits);
      }
    return kIsRow ? word : word ^ kFlip;
  }

  template <bool kIsRow> static void pack(uint8_t* to, const int32_t* from, const Terms& t) {
    constexpr int kBytes = kIsRow ? 4 : kTerms;
    for (int64_t s = 0; s < t.steps; ++s, to += t.to_stride, from += t.step_stride) {
      int64_t l = 0;
      if (t.lane_stride == 1)
        for (; l + kLanes <= t.lanes; l += kLanes) {
          const Words v = joined<kIsRow, Words>(from + l, t, Words{});
          if constexpr (kBytes == 4) {
            store(to + 4 * l, v);
          } else {
            const Shorts halves = __builtin_convertvector(v, Shorts);
            __builtin_memcpy(to + 2 * l, &halves, sizeof halves);
          }
        }
      for (; l < t.lanes; ++l) {
        const auto v = joined<kIsRow, uint32_t>(from + l * t.lane_stride, t, 0);
        __builtin_memcpy(to + l * kBytes, &v, kBytes);
      }
    }
  }

  template <std::size_t... i> static constexpr void (*const kTiles[])(const Tile&) = {
      tile<static_cast<int>(i) / Set::kSlots + 1, static_cast<int>(i) % Set::kSlots + 1>...};
  template <std::size_t... i> static constexpr auto tiles_of(std::index_sequence<i...>) {
    return &kTiles<i...>[0];
  }

  static constexpr DotKernels kernels(const char* isa, double macs_per_ns) {
    return {isa, kTerms, Set::kOffset, kLanes, Set::kRows, Set::kSlots, macs_per_ns,
        tiles_of(std::make_index_sequence<Set::kRows * Set::kSlots>()), pack<false>, pack<true>};
  }
};

}  // namespace
}  // namespace lockstep::cpu
