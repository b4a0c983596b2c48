/// @file
/// Vectors of an instruction set. Units compiled for newer ones include this header, so it must
/// define no function that the linker could share.
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
  typedef int8_t SignedBytes __attribute__((vector_size(4 * kLanes)));
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
  /// Stores a part of a vector, for instruction sets whose masked stores are slow or missing.
  /// Callers store whole vectors by store().
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
  /// Interleaves the elements of the low, or of the high, halves of every 16 bytes of two vectors.
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
  /// Transposes 4 by 4 elements of four vectors, in every 16 bytes.
  template <class V, class Pairs> static void transpose(Words (&v)[4]) {
    const Words a = in_turns<V>(v[0], v[1]), b = in_turns<V>(v[2], v[3]),
                c = in_turns<V, true>(v[0], v[1]), d = in_turns<V, true>(v[2], v[3]);
    v[0] = in_turns<Pairs>(a, b);
    v[1] = in_turns<Pairs, true>(a, b);
    v[2] = in_turns<Pairs>(c, d);
    v[3] = in_turns<Pairs, true>(c, d);
  }
};

}  // namespace
}  // namespace lockstep::cpu
