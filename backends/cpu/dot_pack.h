/// @file
/// Packs values of int32 tensors, for the instruction set of a class as in dot_tile.h.
#pragma once
#include "backends/cpu/dot_vector.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct Packer : VectorOf<Set::kLanes> {
  static constexpr int kLanes = Set::kLanes, kTerms = Set::kTerms, kCellBytes = Set::kCellBytes;
  static constexpr uint32_t kFlip = Set::kOffset ? 0x80808080 : 0;  // adds 128 to each byte

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

  /// Packs terms of any layout; those that are neighbours in memory fastest. It takes blocks of
  /// steps that reach as far along the memory of a lane as across lanes.
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
};

}  // namespace
}  // namespace lockstep::cpu
