/// @file
/// Mistakes in operators that combine two tensors element by element.
#include <csignal>

#include "backends/faulty/mutant.h"
#include "spec/ops/broadcast_add.h"
#include "spec/ops/broadcast_div.h"
#include "spec/ops/broadcast_greater.h"
#include "spec/ops/broadcast_max.h"
#include "spec/ops/broadcast_mul.h"
#include "spec/ops/broadcast_sub.h"
#include "spec/ops/elemwise_add.h"
#include "spec/ops/elemwise_sub.h"

namespace lockstep::faulty {
namespace {

// The element for output y if shapes were aligned from the left.
i64 read_left(const CheckedView& x, const Index& y) {
  Index i = x.shape;
  for (int d = 0; d < x.rank(); ++d) i[d] = min(y[d], x.dim(d) - 1);
  return x(i);
}

// The element for output y if an extent of 1 kept its stride.
i64 read_unbroadcast(const CheckedView& x, const Index& y) {
  i64 k = 0;
  for (int d = 0; d < x.rank(); ++d) k = k * x.dim(d) + y[d + y.size - x.rank()];
  return x.element(min(k, volume(x.shape) - 1));
}

// The operator's right result for two numbers.
template <class Op> i64 combined(i64 a, i64 b) {
  const i32 numbers[] = {static_cast<i32>(a), static_cast<i32>(b)};
  const Type one{{1}, kMaxPrecision};
  const CheckedView pair[] = {{one, &numbers[0]}, {one, &numbers[1]}};
  return Op::at({}, In{pair, 2}, Index{0});
}

// A wrong function of the right pair of numbers.
template <class Op, Captureless F>
constexpr Mutant of_pair(string_view name, string_view kind, string_view provenance, F) {
  return wrong<Op>(name, kind, provenance, [](auto&, In in, auto& y, auto&) {
    return i64{F{}(Broadcast::read(in[0], y), Broadcast::read(in[1], y))};
  });
}

template <class Op> constexpr Mutant left_aligned(string_view name) {
  return wrong<Op>(name, "BROADCAST", "the older text's formula aligns shapes from the left",
      [](auto&, In in, auto& y, auto&) {
        return combined<Op>(read_left(in[0], y), read_left(in[1], y));
      });
}

template <class Op> constexpr Mutant keeps_stride(string_view name) {
  return wrong<Op>(name, "BROADCAST",
      "strides copied from the input without zeroing those of repeated axes",
      [](auto&, In in, auto& y, auto&) {
        return combined<Op>(read_unbroadcast(in[0], y), read_unbroadcast(in[1], y));
      });
}

template <class Op> constexpr Mutant saturates(string_view name) {
  return wrong<Op>(name, "SATURATION", "vqadd, paddsb, psubsb: saturates at the inputs' precision",
      [](auto& a, In in, auto& y, auto&) {
        return saturate(Op::at(a, in, y), max(in[0].precision, in[1].precision));
      });
}

template <class Op> constexpr Mutant tail_copies_a(string_view name) {
  return wrong<Op>(name, "TAIL",
      "a loop over whole 8-lane vectors without its remainder, done in place",
      [](auto& a, In in, auto& y, auto& t) {
        return in_tail(y, t, 8) ? Broadcast::read(in[0], y) : Op::at(a, in, y);
      });
}

template <class Op> constexpr Mutant int16_result(string_view name) {
  return then_wrong<Op>(name, "ACC_WIDTH", "eight 16-bit lanes chosen because models are 8-bit",
      [](i64 v, auto&) { return to_int16(v); });
}

template <class Op> constexpr Mutant float32_result(string_view name) {
  return then_wrong<Op>(name, "ACC_WIDTH", "oneDNN's binary primitive computes int32 through float",
      [](i64 v, auto&) { return to_float(v); });
}

constexpr Mutant kPairMutants[] = {
    left_aligned<BroadcastAdd>("broadcast_add.left_aligned"),
    wrong<BroadcastAdd>("broadcast_add.flat_modulo", "BROADCAST",
        "a bias fast path, index modulo the size of B, taken for every shape",
        [](auto&, In in, auto& y, auto& t) {
          const i64 k = ravel(y, t.shape) % volume(in[1].shape);
          return Broadcast::read(in[0], y) + in[1].element(k);
        }),
    keeps_stride<BroadcastAdd>("broadcast_add.extent_1_keeps_stride"),
    int16_result<BroadcastAdd>("broadcast_add.int16"),
    saturates<BroadcastAdd>("broadcast_add.saturates"),
    float32_result<BroadcastAdd>("broadcast_add.float32"),
    tail_copies_a<BroadcastAdd>("broadcast_add.tail_8_copies_a"),

    of_pair<BroadcastSub>("broadcast_sub.reversed", "ORDER", "B - A, the order of psubd's operands",
        [](i64 a, i64 b) { return b - a; }),
    wrong<BroadcastSub>("broadcast_sub.larger_first", "ORDER",
        "the operand with fewer elements comes second, as is right for a sum",
        [](auto& a, In in, auto& y, auto&) {
          const bool swapped = volume(in[1].shape) > volume(in[0].shape);
          const i64 v = BroadcastSub::at(a, in, y);
          return swapped ? -v : v;
        }),
    left_aligned<BroadcastSub>("broadcast_sub.left_aligned"),
    wrong<BroadcastSub>("broadcast_sub.reads_past_rows", "BROADCAST",
        "a repeated row shorter than a vector of eight: lanes behind its end find 0",
        [](auto& a, In in, auto& y, auto& t) {
          const CheckedView& b = in[1];
          const i64 n = b.dim(b.rank() - 1), k = y[y.size - 1], lane = ravel(y, t.shape) % 8;
          const bool is_row = 1 < n && n < 8 && volume(b.shape) == n;
          return is_row && k < lane ? Broadcast::read(in[0], y) : BroadcastSub::at(a, in, y);
        }),
    saturates<BroadcastSub>("broadcast_sub.saturates"),
    float32_result<BroadcastSub>("broadcast_sub.float32"),

    int16_result<BroadcastMul>("broadcast_mul.int16"),
    float32_result<BroadcastMul>("broadcast_mul.float32"),
    of_pair<BroadcastMul>("broadcast_mul.int8_operands", "ACC_WIDTH",
        "operands narrowed to int8, the type of activations",
        [](i64 a, i64 b) { return to_int8(a) * to_int8(b); }),
    of_pair<BroadcastMul>("broadcast_mul.unsigned_operand", "SIGN",
        "pmaddubsw's first operand is unsigned: a negative one is 256 too large",
        [](i64 a, i64 b) { return (a < 0 && a >= -128 ? a + 256 : a) * b; }),
    keeps_stride<BroadcastMul>("broadcast_mul.extent_1_keeps_stride"),

    of_pair<BroadcastDiv>("broadcast_div.floors", "ROUNDING", "Python's //: toward minus infinity",
        [](i64 a, i64 b) {
          const i64 q = combined<BroadcastDiv>(a, b);
          return q - (b != 0 && a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
        }),
    of_pair<BroadcastDiv>("broadcast_div.euclidean", "ROUNDING",
        "SMT-LIB's div: the remainder is never negative",
        [](i64 a, i64 b) {
          const i64 q = combined<BroadcastDiv>(a, b);
          return b == 0 || a % b >= 0 ? q : b < 0 ? q + 1 : q - 1;
        }),
    of_pair<BroadcastDiv>("broadcast_div.to_nearest", "ROUNDING",
        "a product with the reciprocal, converted with cvtps2dq",
        [](i64 a, i64 b) {
          if (b == 0) return i64{0};
          const i64 unit = magnitude(b), q = (2 * magnitude(a) + unit) / 2 / unit;
          return (a < 0) == (b < 0) ? q : -q;
        }),
    of_pair<BroadcastDiv>("broadcast_div.by_zero_is_minus_1", "BOUNDS",
        "RISC-V's div gives -1 for every dividend",
        [](i64 a, i64 b) { return b == 0 ? -1 : a / b; }),
    of_pair<BroadcastDiv>("broadcast_div.by_zero_is_a", "BOUNDS",
        "a zero divisor replaced by 1 so that nothing traps",
        [](i64 a, i64 b) { return b == 0 ? a : a / b; }),
    of_pair<BroadcastDiv>("broadcast_div.by_zero_saturates", "BOUNDS",
        "infinity converted back to the largest integer",
        [](i64 a, i64 b) {
          return b != 0 ? a / b : a == 0 ? 0 : a > 0 ? kIntMax : -kIntMax;
        }),
    of_pair<BroadcastDiv>("broadcast_div.float32", "ACC_WIDTH",
        "divps and a truncating conversion: exact to 2^24 only",
        [](i64 a, i64 b) {
          if (b == 0) return i64{0};
          const float q = static_cast<float>(a) / static_cast<float>(b);
          return clamp(static_cast<i64>(q), -kIntMax, kIntMax);
        }),
    from_tier(1,
        wrong<BroadcastDiv>("broadcast_div.float32_to_26_bits", "ACC_WIDTH",
            "divps where operands have at most 26 bits: the rounding of operands was overlooked",
            [](auto& a, In in, auto& y, auto&) {
              const i64 b = Broadcast::read(in[1], y);
              if (b == 0 || max(in[0].precision, in[1].precision) > 26)
                return i64{BroadcastDiv::at(a, in, y)};
              return static_cast<i64>(
                  static_cast<float>(Broadcast::read(in[0], y)) / static_cast<float>(b));
            })),
    of_pair<BroadcastDiv>("broadcast_div.unsigned", "SIGN", "udiv for sdiv",
        [](i64 a, i64 b) { return b == 0 ? 0 : to_int32(to_unsigned(a) / to_unsigned(b)); }),
    left_aligned<BroadcastDiv>("broadcast_div.left_aligned"),
    of_pair<BroadcastDiv>("broadcast_div.traps", "CRASH", "x86's idiv traps on a zero divisor",
        [](i64 a, i64 b) {
          if (b == 0) std::raise(SIGFPE);
          return combined<BroadcastDiv>(a, b);
        }),

    of_pair<BroadcastMax>("broadcast_max.unsigned", "SIGN",
        "pmaxud for pmaxsd: a negative value wins over every other",
        [](i64 a, i64 b) { return to_int32(std::max(to_unsigned(a), to_unsigned(b))); }),
    of_pair<BroadcastMax>("broadcast_max.magnitude", "SIGN",
        "the larger magnitude, as a scale is found from both ends of a range",
        [](i64 a, i64 b) { return magnitude(a) < magnitude(b) ? b : a; }),
    of_pair<BroadcastMax>("broadcast_max.float32", "ACC_WIDTH", "maxps: exact to 2^24 only",
        [](i64 a, i64 b) { return clamp(to_float(max(a, b)), -kIntMax, kIntMax); }),
    of_pair<BroadcastMax>("broadcast_max.not_below_zero", "SIGN",
        "fused with a relu that the graph does not have",
        [](i64 a, i64 b) { return max(max(a, b), 0); }),
    keeps_stride<BroadcastMax>("broadcast_max.extent_1_keeps_stride"),
    wrong<BroadcastMax>("broadcast_max.b_decides_precision", "SATURATION",
        "narrowed to the precision of B on the way out",
        [](auto& a, In in, auto& y, auto&) {
          return saturate(BroadcastMax::at(a, in, y), in[1].precision);
        }),

    of_pair<BroadcastGreater>(
        "broadcast_greater.or_equal", "BOUNDS", ">= for >", [](i64 a, i64 b) { return a >= b; }),
    of_pair<BroadcastGreater>("broadcast_greater.reversed", "ORDER",
        "pcmpgtd emulated by a less-than whose operands stayed",
        [](i64 a, i64 b) { return a < b; }),
    of_pair<BroadcastGreater>("broadcast_greater.unsigned", "SIGN", "ja for jg",
        [](i64 a, i64 b) { return to_unsigned(a) > to_unsigned(b); }),
    of_pair<BroadcastGreater>("broadcast_greater.float32", "ACC_WIDTH",
        "cmpltps: neighbours above 2^24 are equal",
        [](i64 a, i64 b) { return to_float(a) > to_float(b); }),
    of_pair<BroadcastGreater>("broadcast_greater.by_difference", "ACC_WIDTH",
        "the sign of a 32-bit difference, which wraps",
        [](i64 a, i64 b) { return to_int32(a - b) > 0; }),
    of_pair<BroadcastGreater>("broadcast_greater.mask", "SIGN",
        "a vector comparison gives all ones, which is -1",
        [](i64 a, i64 b) { return a > b ? -1 : 0; }),
    left_aligned<BroadcastGreater>("broadcast_greater.left_aligned"),

    int16_result<ElemwiseAdd>("elemwise_add.int16"),
    float32_result<ElemwiseAdd>("elemwise_add.float32"),
    saturates<ElemwiseAdd>("elemwise_add.saturates"),
    tail_copies_a<ElemwiseAdd>("elemwise_add.tail_8_copies_a"),
    wrong<ElemwiseAdd>("elemwise_add.flat_b", "LAYOUT",
        "equal shapes taken for equal strides: B is read as it lies",
        [](auto&, In in, auto& y, auto& t) {
          return in[0](y) + i64{in[1].data[ravel(y, t.shape)]};
        }),

    of_pair<ElemwiseSub>("elemwise_sub.reversed", "ORDER", "B - A, the order of psubd's operands",
        [](i64 a, i64 b) { return b - a; }),
    of_pair<ElemwiseSub>("elemwise_sub.not_below_zero", "SATURATION",
        "psubusb: an unsigned difference saturates at 0",
        [](i64 a, i64 b) { return max(a - b, 0); }),
    float32_result<ElemwiseSub>("elemwise_sub.float32"),
    saturates<ElemwiseSub>("elemwise_sub.saturates"),
    tail_copies_a<ElemwiseSub>("elemwise_sub.tail_8_copies_a"),
};

}  // namespace

Span<Mutant> pair_mutants() { return {kPairMutants, static_cast<int>(std::size(kPairMutants))}; }

}  // namespace lockstep::faulty
