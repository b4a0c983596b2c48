/// @file
/// How sums become outputs, for the instruction set of a class as in dot_tile.h.
#pragma once
#include "backends/cpu/dot_vector.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct Surfaces : VectorOf<Set::kLanes> {
  static constexpr int kLanes = Set::kLanes, kTerms = Set::kTerms;
  using Vector = VectorOf<kLanes>;
  using typename Vector::HalfWords, typename Vector::Longs;
  using typename Vector::SignedBytes;
  using typename Vector::Words, typename Vector::SignedWords, typename Vector::Bytes;
  using Vector::load, Vector::store;
  template <class V, bool kHigh = false> static Words in_turns(Words a, Words b) {
    return Vector::template in_turns<V, kHigh>(a, b);
  }

  static Words rescaled(Words v, const Rescale& s) {
    const SignedWords low = s.low - SignedWords{}, high = s.high - SignedWords{};
    SignedWords x = reinterpret_cast<SignedWords>(v + static_cast<uint32_t>(s.half)) >> s.shift;
    x = x < low ? low : x;
    x = x > high ? high : x;
    return reinterpret_cast<Words>(x);
  }

  /// Signed bytes as a Rescale clamps them.
  static Words clamped(Words v, const Rescale& s) {
    const SignedBytes low = byte_of(s.low) - SignedBytes{}, high = byte_of(s.high) - SignedBytes{};
    auto x = reinterpret_cast<SignedBytes>(v);
    x = x < low ? low : x;
    x = x > high ? high : x;
    return reinterpret_cast<Words>(x);
  }
  static int8_t byte_of(int32_t v) {
    return static_cast<int8_t>(v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v);
  }

  static constexpr uint32_t kFlip = Set::kOffset ? 0x80808080 : 0;  // adds 128 to each byte
  static constexpr int kTermBits = 32 / kTerms;
  static constexpr uint32_t kTermMask = kTermBits == 8 ? 0xff : 0xffff;

  /// Joins rows that share Words, from row `first` on.
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

  template <int R> static void add_surface(
      const Surface& added, const Rescale& total, const Piece& piece, Words (&out)[R]) {
    const int32_t* from = added.data + piece.to;
    const int64_t stride = added.row_stride;
    if (added.has_cells) {
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

  /// Turns the cells of kTerms taps into Words of these taps, one for each channel. The channels of
  /// a lane follow each other, so that a vector has 4 / kTerms lanes in every 16 bytes.
  static void gather_taps(Words (&v)[4]) { Vector::template transpose<Bytes, HalfWords>(v); }
  static void gather_taps(Words (&v)[2]) {
    const Words low = in_turns<HalfWords>(v[0], v[1]);
    v[1] = in_turns<HalfWords, true>(v[0], v[1]);
    v[0] = low;
  }
  /// Turns such vectors of sums into one vector for each channel.
  static void part_channels(Words (&v)[4]) { Vector::template transpose<Words, Longs>(v); }
  static void part_channels(Words (&v)[2]) {
    const Words low = in_turns<Words>(v[0], v[1]), high = in_turns<Words, true>(v[0], v[1]);
    v[0] = in_turns<Words>(low, high);
    v[1] = in_turns<Words, true>(low, high);
  }
  /// One of the four pixels whose cells are in every 16 bytes, its channels widened to words.
  template <int kPixel> static Words pixel_of(Words cells) {
    const Words pair = in_turns<Bytes, (kPixel >= 2)>(Words{}, cells ^ kFlip);
    const Words words = in_turns<HalfWords, kPixel % 2 != 0>(Words{}, pair);
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(words) >> (32 - kTermBits));
  }

  /// Up to four pixels of a surface, and the first of as many rows as a slot has lanes.
  struct Pixels {
    int64_t to, row;
    int count;
  };
  static void add_pixels(
      const Surface& from, const Pixels& at, const Rescale& total, Words (&out)[4]) {
    Words v[4];
    const int64_t stride = from.row_stride;
    const int32_t* const first = from.data + at.to + at.row / kTerms * stride;
    if (from.has_cells && kTerms == 2) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        v[k] = shared_row(Set::load_parts(first + k / 2 * stride, 2 * stride, at.count), k % 2);
      part_channels(v);
    } else if (from.has_cells) {
      const Words cells = Set::load_parts(first, stride, at.count);
      v[0] = pixel_of<0>(cells);
      v[1] = pixel_of<1>(cells);
      v[2] = pixel_of<2>(cells);
      v[3] = pixel_of<3>(cells);
    } else {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        v[k] = Set::load_parts(from.data + at.to + (at.row + k) * stride, 4 * stride, at.count);
      part_channels(v);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) out[k] = rescaled(out[k] + v[k], total);
  }
  static void store_pixels(const Surface& to, const Pixels& at, Words (&out)[4]) {
    const int64_t stride = to.row_stride;
    int32_t* const first = to.data + at.to + at.row / kTerms * stride;
    if constexpr (requires { &Set::narrowed; })
      if (to.has_cells) {
        const Words cells = Set::narrowed(out[0], out[1], out[2], out[3]) ^ kFlip;
        return Set::store_parts(first, stride, cells, at.count);
      }
    part_channels(out);
    if (to.has_cells) {
#pragma GCC unroll 2
      for (int k = 0; k < 4 / kTerms; ++k)
        Set::store_parts(
            first + k * stride, 4 / kTerms * stride, joined_rows(out, k * kTerms), at.count);
    } else {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        Set::store_parts(to.data + at.to + (at.row + k) * stride, 4 * stride, out[k], at.count);
    }
  }
};

}  // namespace
}  // namespace lockstep::cpu
