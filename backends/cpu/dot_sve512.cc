/// @file
/// Tiles for SVE with vectors of 512 bits, which need not have NEON's dot products. Where vectors
/// are shorter, dotprod and i8mm do as much per instruction.
#include <arm_sve.h>

#include "backends/cpu/dot_by_word.h"

namespace lockstep::cpu {
namespace {

using SignedWords [[gnu::vector_size(64)]] = int32_t;
using SignedBytes [[gnu::vector_size(64)]] = int8_t;

struct Sve512 : VectorOf<16> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 0, kLanes = 16, kRows = 8, kSlots = 3;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    const SignedWords signed_sum = svdot_s32(reinterpret_cast<SignedWords>(sum),
        reinterpret_cast<SignedBytes>(cells), reinterpret_cast<SignedBytes>(row));
    sum = reinterpret_cast<Words>(signed_sum);
  }
  static Words four(const Word* words) { return svld1rq_u32(svptrue_b32(), words); }
  static Words four_of(Word a, Word b, Word c) { return svdupq_n_u32(a, b, c, c); }
  template <int kWord> static Words added(Words sum, Words cells, Words rows) {
    const SignedWords signed_sum = svdot_lane_s32(reinterpret_cast<SignedWords>(sum),
        reinterpret_cast<SignedBytes>(cells), reinterpret_cast<SignedBytes>(rows), kWord);
    return reinterpret_cast<Words>(signed_sum);
  }
  static void store_some(int32_t* to, Words v, int first, int count) {
    const svbool_t before = svwhilelt_b32(0, first), all = svwhilelt_b32(0, first + count);
    svst1_u32(svbic_b_z(svptrue_b32(), all, before), reinterpret_cast<uint32_t*>(to - first), v);
  }
  static Words load_some(const int32_t* from, int first, int count) {
    const svbool_t before = svwhilelt_b32(0, first), all = svwhilelt_b32(0, first + count);
    return svld1_u32(
        svbic_b_z(svptrue_b32(), all, before), reinterpret_cast<const uint32_t*>(from - first));
  }
  template <int R, int S> static void multiply(const Tile& t, Words (&sum)[R][S]) {
    multiply_by_word<Sve512>(t, sum);
  }
};

}  // namespace

constinit const DotKernels kDotSve512 = Tiles<Sve512>::kernels("sve512", 200);

}  // namespace lockstep::cpu
