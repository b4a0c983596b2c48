/// @file
/// The vectors of AVX-512 with VNNI: vpdpbusd multiplies unsigned cells and signed rows.
#pragma once
#include <immintrin.h>

#include "backends/cpu/dot_vector.h"

namespace lockstep::cpu {
namespace {

struct Avx512Vnni : VectorOf<16> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 128, kLanes = 16, kRows = 8,
                       kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    sum = reinterpret_cast<Words>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
        reinterpret_cast<__m512i>(cells), reinterpret_cast<__m512i>(row)));
  }
  static Words halved(Words low, Words high) {
    return reinterpret_cast<Words>(
        _mm512_packs_epi32(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high)));
  }
  static Words halves_narrowed(Words low, Words high) {
    return reinterpret_cast<Words>(
        _mm512_packs_epi16(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high)));
  }
  static Words saturated_sum(Words a, Words b) {
    return reinterpret_cast<Words>(
        _mm512_adds_epi8(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
  }
  static Words narrowed(Words a, Words b, Words c, Words d) {
    return halves_narrowed(halved(a, b), halved(c, d));
  }
  static Words shifted(Words v, Words by) {
    return reinterpret_cast<Words>(_mm512_maskz_srav_epi32(
        0xffff, reinterpret_cast<__m512i>(v), reinterpret_cast<__m512i>(by)));
  }
  static __mmask16 part(int k, int count) {
    return static_cast<__mmask16>(((1U << count) - 1) << (4 * k));
  }
  static Words load_parts(const int32_t* from, int64_t stride, int count) {
    __m512i v = _mm512_setzero_si512();
    for (int k = 0; k < 4; ++k, from += stride - 4)
      v = _mm512_mask_loadu_epi32(v, part(k, count), from);
    return reinterpret_cast<Words>(v);
  }
  static void store_parts(int32_t* to, int64_t stride, Words v, int count) {
    for (int k = 0; k < 4; ++k, to += stride - 4)
      _mm512_mask_storeu_epi32(to, part(k, count), reinterpret_cast<__m512i>(v));
  }
  static void store_some(int32_t* to, Words v, int first, int count) {
    const auto lanes = static_cast<__mmask16>(((1U << count) - 1) << first);
    _mm512_mask_storeu_epi32(to - first, lanes, reinterpret_cast<__m512i>(v));
  }
  static Words load_some(const int32_t* from, int first, int count) {
    const auto lanes = static_cast<__mmask16>(((1U << count) - 1) << first);
    return reinterpret_cast<Words>(_mm512_maskz_loadu_epi32(lanes, from - first));
  }
};

}  // namespace
}  // namespace lockstep::cpu
