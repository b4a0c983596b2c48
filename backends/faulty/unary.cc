/// @file
/// Mistakes in operators of one tensor, element by element.
#include "backends/faulty/mutant.h"
#include "spec/ops/abs.h"
#include "spec/ops/clip.h"
#include "spec/ops/cvm_clip.h"
#include "spec/ops/cvm_left_shift.h"
#include "spec/ops/cvm_precision.h"
#include "spec/ops/cvm_right_shift.h"
#include "spec/ops/negative.h"
#include "spec/ops/relu.h"

namespace lockstep::faulty {
namespace {

// A wrong function of the element and, optionally, of the attributes.
template <class Op, Captureless F>
constexpr Mutant of_element(string_view name, string_view kind, string_view provenance, F) {
  return wrong<Op>(name, kind, provenance,
      [](auto& a, In in, auto& y, auto&) { return i64{F{}(i64{in[0](y)}, a)}; });
}

template <class Op, i64 kWidth>
constexpr Mutant tail_unvisited(string_view name, string_view provenance) {
  return wrong<Op>(name, "TAIL", provenance, [](auto& a, In in, auto& y, auto& t) {
    return in_tail(y, t, kWidth) ? i64{in[0](y)} : Op::at(a, in, y);
  });
}

template <class Op> constexpr Mutant sign_obeyed(string_view name) {
  return then_wrong<Op>(name, "SIGN", "is_sign=false taken at its word: clamps at 0 from below",
      [](i64 v, auto& a) { return a.is_sign ? v : max(v, 0); });
}

// A wrong quotient of cvm_right_shift, rightly clamped: a function of the element and the count.
template <Captureless F>
constexpr Mutant shifted(string_view name, string_view kind, string_view provenance, F) {
  return of_element<CvmRightShift>(name, kind, provenance,
      [](i64 v, auto& a) { return saturate(F{}(v, a.shift_bit), a.precision); });
}

constexpr Mutant kUnaryMutants[] = {
    wrong<Relu>("relu.unsigned", "SIGN", "max of unsigned words: every negative value wins over 0",
        [](auto&, In in, auto& y, auto&) { return i64{in[0](y)}; }),
    then_wrong<Relu>("relu.int8", "ACC_WIDTH", "narrowed to int8, the type of activations",
        [](i64 v, auto&) { return to_int8(v); }),
    tail_unvisited<Relu, 4>("relu.tail_4", "in place, the last n mod 4 elements are not visited"),

    of_element<Abs>("abs.unsigned", "SIGN", "read as unsigned words: nothing is negative",
        [](i64 v, auto&) { return v; }),
    of_element<Abs>("abs.ones_complement", "SIGN", "v ^ (v >> 31) without the bit to add",
        [](i64 v, auto&) { return v < 0 ? ~v : v; }),
    of_element<Abs>("abs.int8", "ACC_WIDTH", "pabsb: narrowed to int8, the type of activations",
        [](i64 v, auto&) { return magnitude(to_int8(v)); }),
    of_element<Abs>("abs.saturates_int16", "SATURATION", "packssdw on the way to pabsw",
        [](i64 v, auto&) { return magnitude(saturate_int16(v)); }),
    of_element<Abs>("abs.float32", "ACC_WIDTH", "andps on converted words: exact to 2^24 only",
        [](i64 v, auto&) { return min(magnitude(to_float(v)), kIntMax); }),
    tail_unvisited<Abs, 8>("abs.tail_8", "in place, the last n mod 8 elements are not visited"),

    of_element<Negative>("negative.ones_complement", "SIGN", "pxor with all ones: not without add",
        [](i64 v, auto&) { return ~v; }),
    of_element<Negative>("negative.of_magnitude", "SIGN", "the sign bit is set, not flipped",
        [](i64 v, auto&) { return -magnitude(v); }),
    of_element<Negative>("negative.first_byte", "ACC_WIDTH", "psubb: four lanes for one word",
        [](i64 v, auto&) { return (v & ~i64{255}) | (-v & 255); }),
    of_element<Negative>("negative.saturates_int8", "SATURATION",
        "vqneg.s8 after a saturating narrowing",
        [](i64 v, auto&) { return -clamp(v, -INT8_MAX, INT8_MAX); }),
    of_element<Negative>("negative.float32", "ACC_WIDTH", "through float: exact to 2^24 only",
        [](i64 v, auto&) { return clamp(-to_float(v), -kIntMax, kIntMax); }),
    tail_unvisited<Negative, 4>(
        "negative.tail_4", "in place, the last n mod 4 elements are not visited"),

    of_element<CvmPrecision>("cvm_precision.zero_has_none", "BOUNDS",
        "the bit length of 0 is 0: the exception was overlooked",
        [](i64 v, auto&) { return bit_length(magnitude(v)); }),
    of_element<CvmPrecision>("cvm_precision.ceil_log2", "ROUNDING",
        "ceil(log2 v): a power of two has one bit too few",
        [](i64 v, auto&) { return max(1, bit_length(magnitude(v) - 1)); }),
    of_element<CvmPrecision>("cvm_precision.float_exponent", "ROUNDING",
        "the exponent of a float: rounds up to the next power from 2^24 on",
        [](i64 v, auto&) { return max(1, bit_length(to_float(magnitude(v)))); }),
    of_element<CvmPrecision>("cvm_precision.negative_is_32", "SIGN",
        "32 minus the leading zeros of a word with its sign",
        [](i64 v, auto&) { return v < 0 ? 32 : max(1, bit_length(v)); }),
    of_element<CvmPrecision>("cvm_precision.ones_complement", "SIGN",
        "leading sign bits, cls: a negative power of two has one bit too few",
        [](i64 v, auto&) { return max(1, bit_length(v < 0 ? ~v : v)); }),
    of_element<CvmPrecision>("cvm_precision.counts_sign", "BOUNDS",
        "the precision that a value needs, its sign bit included",
        [](i64 v, auto&) { return bit_length(magnitude(v)) + 1; }),
    of_element<CvmPrecision>("cvm_precision.int16", "ACC_WIDTH", "lzcnt of a 16-bit word",
        [](i64 v, auto&) { return max(1, bit_length(magnitude(v) & 0xffff)); }),

    of_element<Clip>("clip.exclusive_max", "BOUNDS", "a_max taken for the first illegal value",
        [](i64 v, auto& a) { return clamp(v, a.a_min, a.a_max - 1); }),
    of_element<Clip>("clip.unsigned", "SIGN", "pminud and pmaxud for pminsd and pmaxsd",
        [](i64 v, auto& a) {
          const auto x = std::max(to_unsigned(v), to_unsigned(a.a_min));
          return to_int32(std::min(x, to_unsigned(a.a_max)));
        }),
    misplaced<Clip>("clip.second_vector", "ORDER",
        "two vectors of eight a pass, and the second is the first again",
        [](auto&, In, auto& y, auto& t) {
          const i64 k = ravel(y, t.shape);
          if (!in_tail(y, t, 16)) y = unravel(k - k / 8 % 2 * 8, t.shape);
        }),
    of_element<Clip>("clip.one_sided", "SATURATION", "only the upper bound is clamped",
        [](i64 v, auto& a) { return min(v, a.a_max); }),
    of_element<Clip>("clip.symmetric", "SIGN", "one bound for both signs, as cvm_clip has",
        [](i64 v, auto& a) { return clamp(v, -magnitude(a.a_max), magnitude(a.a_max)); }),
    of_element<Clip>("clip.int8_bounds", "ACC_WIDTH", "bounds narrowed with the tensors",
        [](i64 v, auto& a) { return clamp(v, to_int8(a.a_min), to_int8(a.a_max)); }),
    of_element<Clip>("clip.float32", "ACC_WIDTH", "NumPy's float bounds: exact to 2^24 only",
        [](i64 v, auto& a) {
          return clamp(to_float(clamp(v, a.a_min, a.a_max)), -kIntMax, kIntMax);
        }),
    tail_unvisited<Clip, 16>(
        "clip.tail_16", "in place, the last n mod 16 elements are not visited"),

    of_element<CvmClip>("cvm_clip.two_complement", "SATURATION",
        "packssdw and ssat keep -2^(p-1), which is no value here",
        [](i64 v, auto& a) { return clamp(v, -max_of(a.precision) - 1, max_of(a.precision)); }),
    then_wrong<CvmClip>("cvm_clip.packs_int16", "SATURATION",
        "packssdw on the way: everything saturates at 16 bits as well",
        [](i64 v, auto&) { return saturate_int16(v); }),
    of_element<CvmClip>("cvm_clip.forgets_sign_bit", "BOUNDS", "2^p - 1 for 2^(p-1) - 1",
        [](i64 v, auto& a) { return saturate(v, min(a.precision + 1, kMaxPrecision)); }),
    sign_obeyed<CvmClip>("cvm_clip.is_sign_obeyed"),
    of_element<CvmClip>("cvm_clip.one_sided", "SATURATION", "only the upper bound is clamped",
        [](i64 v, auto& a) { return min(v, max_of(a.precision)); }),

    of_element<CvmLeftShift>("cvm_left_shift.int16", "ACC_WIDTH",
        "psllw: the product wraps in 16-bit lanes before it is clamped",
        [](i64 v, auto& a) { return saturate(to_int16(v << a.shift_bit), a.precision); }),
    of_element<CvmLeftShift>("cvm_left_shift.clamps_first", "ORDER",
        "clamps the element instead of the product",
        [](i64 v, auto& a) { return saturate(v, a.precision) << a.shift_bit; }),
    of_element<CvmLeftShift>("cvm_left_shift.unclamped", "SATURATION",
        "the rule about its width taken for the bound of the product",
        [](i64 v, auto& a) { return v << a.shift_bit; }),
    of_element<CvmLeftShift>("cvm_left_shift.two_complement", "SATURATION",
        "vqshl keeps -2^(p-1), which is no value here",
        [](i64 v, auto& a) {
          const i64 m = max_of(a.precision);
          return clamp(v << a.shift_bit, -m - 1, m);
        }),
    of_element<CvmLeftShift>("cvm_left_shift.count_modulo_16", "BOUNDS",
        "the count of a 16-bit lane: only its low 4 bits are taken",
        [](i64 v, auto& a) { return saturate(v << (a.shift_bit & 15), a.precision); }),
    of_element<CvmLeftShift>("cvm_left_shift.float32", "ACC_WIDTH",
        "ldexp on converted words: exact to 2^24 only",
        [](i64 v, auto& a) { return saturate(to_float(v) << a.shift_bit, a.precision); }),
    sign_obeyed<CvmLeftShift>("cvm_left_shift.is_sign_obeyed"),

    shifted("cvm_right_shift.floor", "ROUNDING", "a plain arithmetic shift",
        [](i64 v, i64 bits) { return floor_shift(v, bits); }),
    shifted("cvm_right_shift.toward_zero", "ROUNDING", "division for shift, as in C",
        [](i64 v, i64 bits) { return v / (i64{1} << bits); }),
    shifted("cvm_right_shift.ties_away", "ROUNDING",
        "gemmlowp's RoundingDivideByPOT: ties away from zero",
        [](i64 v, i64 bits) {
          const i64 t = (magnitude(v) + (i64{1} << (bits - 1))) >> bits;
          return v < 0 ? -t : t;
        }),
    shifted("cvm_right_shift.ties_even", "ROUNDING", "through lrint: ties to even",
        [](i64 v, i64 bits) {
          const i64 unit = i64{1} << bits, down = floor_shift(v, bits);
          const i64 twice = 2 * (v - down * unit);
          return down + (twice > unit || (twice == unit && down % 2 != 0));
        }),
    shifted("cvm_right_shift.ties_down", "ROUNDING", "adds half minus one before the shift",
        [](i64 v, i64 bits) { return floor_shift(v + (i64{1} << (bits - 1)) - 1, bits); }),
    shifted("cvm_right_shift.wraps", "ACC_WIDTH",
        "the deployed runtime: the rounding bit is added in 32 bits",
        [](i64 v, i64 bits) { return floor_shift(to_int32(floor_shift(v, bits - 1) + 1), 1); }),
    wrong<CvmRightShift>("cvm_right_shift.count_modulo_32", "BOUNDS",
        "x86 and CUDA take the shift count modulo 32",
        [](auto& a, In in, auto& y, auto&) {
          return a.shift_bit == 32 ? saturate(in[0](y), a.precision) : CvmRightShift::at(a, in, y);
        }),
    shifted("cvm_right_shift.logical", "SIGN", "psrld for psrad",
        [](i64 v, i64 bits) { return floor_shift(i64{to_unsigned(v) >> (bits - 1)} + 1, 1); }),
    of_element<CvmRightShift>("cvm_right_shift.two_complement", "SATURATION",
        "narrowing instructions saturate at -2^(p-1)",
        [](i64 v, auto& a) {
          const i64 m = max_of(a.precision);
          return clamp(floor_shift(floor_shift(v, a.shift_bit - 1) + 1, 1), -m - 1, m);
        }),
    wrong<CvmRightShift>("cvm_right_shift.tail_16_truncates", "TAIL",
        "a scalar remainder written without the rounding of the vector loop",
        [](auto& a, In in, auto& y, auto& t) {
          return in_tail(y, t, 16) ? saturate(floor_shift(in[0](y), a.shift_bit), a.precision)
                                   : CvmRightShift::at(a, in, y);
        }),
};

}  // namespace

Span<Mutant> unary_mutants() { return {kUnaryMutants, static_cast<int>(std::size(kUnaryMutants))}; }

}  // namespace lockstep::faulty
