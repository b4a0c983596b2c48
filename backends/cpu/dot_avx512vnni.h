/// @file
/// The vectors of AVX-512 with VNNI: vpdpbusd multiplies unsigned cells and signed rows.
#pragma once
#include "backends/cpu/dot_avx512.h"

namespace lockstep::cpu {
namespace {

struct Avx512Vnni : Avx512Vector {
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
};

}  // namespace
}  // namespace lockstep::cpu
